"""What a person sets by hand: the settings, their files, and what holds where.

- ``keys``: every setting as a table, and as JSON Schema, with the kinds of values.
- ``jsonc``, ``files``: reading and changing one file without losing anything of it.
- ``live``: what holds now, where it comes from, and who is notified of changes.
- ``effective``: a profile with settings and a session's choices applied, as pure functions.
- ``profile_files``: profiles of the person.
- ``prompt_templates``, ``template_catalogue``: the words sent to models and their checks.
- ``preferences``: what the window remembers; ``paths``: where everything lies.
"""
