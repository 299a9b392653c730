-- Who may do what in a team's library. It can be run again at any time, by whoever owns the tables
-- and may make roles. A person gets one of them: GRANT session_explorer_publisher TO ada;
--
--   reader     lists, searches and reads sessions; writes notes by their own name
--   publisher  also publishes, renews and withdraws what is theirs
--   steward    also withdraws what others published, and takes away their notes

DO $$
DECLARE wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['reader', 'publisher', 'steward'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'session_explorer_' || wanted) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', 'session_explorer_' || wanted);
    END IF;
  END LOOP;
END $$;
GRANT session_explorer_reader TO session_explorer_publisher;
GRANT session_explorer_publisher TO session_explorer_steward;

GRANT USAGE ON SCHEMA session_explorer TO session_explorer_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA session_explorer TO session_explorer_reader;
GRANT INSERT (session, entry_id, kind, content, finding), DELETE
  ON session_explorer.notes TO session_explorer_reader;
-- Publisher, author and times are the server's to write.
GRANT INSERT (format, session_id, digest, header, "row", model),
      UPDATE (published, digest, header, "row", model), DELETE
  ON session_explorer.sessions TO session_explorer_publisher;
GRANT INSERT, DELETE ON session_explorer.blocks, session_explorer.entries
  TO session_explorer_publisher;

ALTER TABLE session_explorer.sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_explorer.blocks ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_explorer.entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_explorer.notes ENABLE ROW LEVEL SECURITY;

DO $$
DECLARE one record;
BEGIN
  FOR one IN SELECT policyname, tablename FROM pg_policies WHERE schemaname = 'session_explorer' LOOP
    EXECUTE format('DROP POLICY %I ON session_explorer.%I', one.policyname, one.tablename);
  END LOOP;
END $$;

CREATE POLICY read ON session_explorer.sessions FOR SELECT USING (true);
CREATE POLICY read ON session_explorer.blocks FOR SELECT USING (true);
CREATE POLICY read ON session_explorer.entries FOR SELECT USING (true);
CREATE POLICY read ON session_explorer.notes FOR SELECT USING (true);

CREATE POLICY publish ON session_explorer.sessions FOR INSERT WITH CHECK (publisher = current_user);
CREATE POLICY renew ON session_explorer.sessions FOR UPDATE
  USING (publisher = current_user) WITH CHECK (publisher = current_user);
CREATE POLICY withdraw ON session_explorer.sessions FOR DELETE
  USING (publisher = current_user OR pg_has_role('session_explorer_steward', 'MEMBER'));

CREATE POLICY publish ON session_explorer.blocks FOR INSERT WITH CHECK (EXISTS (
  SELECT FROM session_explorer.sessions s WHERE s.key = session AND s.publisher = current_user));
CREATE POLICY renew ON session_explorer.blocks FOR DELETE USING (EXISTS (
  SELECT FROM session_explorer.sessions s WHERE s.key = session AND s.publisher = current_user));
CREATE POLICY publish ON session_explorer.entries FOR INSERT WITH CHECK (EXISTS (
  SELECT FROM session_explorer.sessions s WHERE s.key = session AND s.publisher = current_user));
CREATE POLICY renew ON session_explorer.entries FOR DELETE USING (EXISTS (
  SELECT FROM session_explorer.sessions s WHERE s.key = session AND s.publisher = current_user));

CREATE POLICY write ON session_explorer.notes FOR INSERT WITH CHECK (author = current_user);
CREATE POLICY remove ON session_explorer.notes FOR DELETE
  USING (author = current_user OR pg_has_role('session_explorer_steward', 'MEMBER'));
