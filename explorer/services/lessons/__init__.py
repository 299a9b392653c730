"""Lessons on how compaction works: read, checked, and answered from the session that is open.

- ``lesson``: what a lesson is made of, as values.
- ``lesson_file``: the lessons that there are, a file to values, and a lesson with its session.
- ``places``: where in a session the subject of a lesson occurs.
- ``answer``: one place under one set of rules, what the engine answers there, and how that
  compares with a prediction.
- ``answers``: the engine's answers by name, from ``context_answers`` and ``summary_answers``.

No lesson changes a session: everything here only reads.
"""
