"""What a compaction would do, and the words it sends: pure functions over columns and entries.

The way of a compaction through the modules:

- ``profile``: which system's rules hold, one named switch per documented quirk, and the settings.
- ``path_view``: the active path as byte strings: kinds, what is sent, weights, where the previous
  compaction's work ends (the boundary).
- ``cut_point``: where a path may be cut, and where it is cut.
- ``context_size``: how many tokens the context takes, and the source of the number.
- ``file_ops``: which files were read and modified.
- ``preparation``: all of that together: a ``Preparation``, or a ``PreparationRefusal``.
- ``partition``: one verdict for every entry of the path; ``reasons`` puts them in sentences.
- ``messages``: entries as messages to a model, messages as text.
- ``templates``: their words as values; ``requests``: the requests that go to the summarizer.
- ``summary``: answers checked, merged and finished with the files.
- ``profile_comparison``: one place of a session under several profiles, and the rules that differ.
- ``triggers``: whether to compact without being asked; ``automatic``, ``background``: procedures of
  automatic compaction, whose steps others perform.
- ``branch_summaries``: what is left behind when another branch is taken, and its summary.

Nothing here reads files, knows a clock, a database or a network; what is needed comes in as
arguments. Positions count along the active path from 0, entries are named by index, sizes are
tokens unless a name says UTF-16 units.
"""
