"""Parts that several panes are made of. None knows a session, a document or the workbench."""
