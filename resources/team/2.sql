-- Version 2 of a team's library: notes on findings of an audit, and the model of a session.

ALTER TABLE session_explorer.notes ADD COLUMN finding text NOT NULL DEFAULT '';
ALTER TABLE session_explorer.sessions ADD COLUMN model text NOT NULL DEFAULT '';
UPDATE session_explorer.library SET value = '2' WHERE name = 'version';
