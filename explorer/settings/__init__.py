"""What a person sets by hand: the keys, the files they stand in, and what holds where.

- ``keys``: every setting as a table; ``kinds`` says what values may be.
- ``jsonc``, ``files``: reading and changing one file without losing anything of it.
- ``live``: what holds now, where it comes from, and who is told of changes.
- ``effective``: a profile with settings applied, as a pure function.
- ``schema``: the same table as JSON Schema, for editors.
"""
