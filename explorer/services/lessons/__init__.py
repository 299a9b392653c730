"""Lessons on how compaction works: read, checked, and answered from the session that is open.

- ``lesson``: what a lesson is made of, as values.
- ``reading``: a lesson file to values, with every mistake by its line.
- ``shelf``: the lessons that there are.
- ``situation``: one place of a session under one set of rules; all that an answer may look at.
- ``places``: where in a session the subject of a lesson occurs.
- ``answers``: the engine's answers, by name; ``judging`` compares a prediction with one.
- ``bundle``: a lesson and a session in one file.

No lesson changes a session: everything here only reads.
"""
