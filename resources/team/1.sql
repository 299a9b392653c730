-- Version 1 of a team's library. `session-explorer library setup NAME` runs it, as whoever shall own
-- the tables; what each role may do is in roles.sql.

CREATE TABLE session_explorer.library (name text PRIMARY KEY, value text NOT NULL);
INSERT INTO session_explorer.library VALUES ('version', '1');

-- What is published once by one person. `header` and `row` are JSON in ASCII: a text of PostgreSQL
-- holds no NUL, and a session may.
CREATE TABLE session_explorer.sessions (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  publisher name NOT NULL DEFAULT current_user,
  published timestamptz NOT NULL DEFAULT now(),
  format text NOT NULL,
  session_id text NOT NULL,
  digest text NOT NULL,
  header text NOT NULL,
  "row" text NOT NULL,
  UNIQUE (publisher, format, session_id)
);

-- Entries `first` to `last` with their lines verbatim, compressed; -1 has the lines that are no entries.
CREATE TABLE session_explorer.blocks (
  session bigint NOT NULL REFERENCES session_explorer.sessions ON DELETE CASCADE,
  first integer NOT NULL,
  last integer NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (session, first)
);
ALTER TABLE session_explorer.blocks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE session_explorer.entries (
  session bigint NOT NULL REFERENCES session_explorer.sessions ON DELETE CASCADE,
  entry integer NOT NULL,
  kind smallint NOT NULL,
  flags integer NOT NULL,
  time_ms double precision NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (session, entry)
);
CREATE INDEX entries_words ON session_explorer.entries USING gin (words);

CREATE TABLE session_explorer.notes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session bigint NOT NULL REFERENCES session_explorer.sessions ON DELETE CASCADE,
  entry_id text NOT NULL DEFAULT '',
  kind text NOT NULL CHECK (kind IN ('note', 'label')),
  content text NOT NULL,
  author name NOT NULL DEFAULT current_user,
  made timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX notes_session ON session_explorer.notes (session);

CREATE FUNCTION session_explorer.announce() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_notify('session_explorer', TG_TABLE_NAME); RETURN NULL; END $$;
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON session_explorer.sessions
  FOR EACH STATEMENT EXECUTE FUNCTION session_explorer.announce();
CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON session_explorer.notes
  FOR EACH STATEMENT EXECUTE FUNCTION session_explorer.announce();
