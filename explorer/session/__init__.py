"""What a session is: entries, the tree, the active path, and what the model sees.

Nothing here reads files, keeps a database or knows a window. Everything works on columns (one
value per entry), so that a session of 200,000 entries fits in a few megabytes; the payloads (the
records of the entries) are fetched only where they are shown or sent.
"""
