"""What a person sets by hand: the settings, their files, and what holds where.

- ``keys``: every setting as a table, and as JSON Schema; ``kinds`` says what values may be.
- ``jsonc``, ``files``: reading and changing one file without losing anything of it.
- ``live``: what holds now, where it comes from, and who is notified of changes.
- ``effective``: a profile with settings applied, as a pure function.
- ``profile_files``: profiles of the person.
- ``prompt_templates``, ``template_catalogue``: the words sent to models and their checks.
- ``preferences``: what the window remembers; ``paths``: where everything lies.
"""
