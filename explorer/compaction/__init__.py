"""What a compaction would do, and the words it sends: pure functions over columns and entries.

The way of a compaction through the modules:

- ``profile``: which system's rules hold, one named switch per documented quirk, and the settings;
  ``policies``: those of its parts that have settings.
- ``path_view``: the active path as byte strings: kinds, what is sent, weights, where the previous
  compaction's work ends (the boundary).
- ``cut``: where a path may be cut, and where it is cut; ``rounds``: where rounds are kept instead
  of tokens; ``scaling``: how many tokens are kept, by the provider's measure.
- ``context_size``: how many tokens the context takes, and the source of the number.
- ``file_ops``: which files were read and modified.
- ``prepare``: all of that together: a ``Preparation``, or a ``Refusal`` that says why not.
- ``partition``: one verdict for every entry of the path; ``reasons`` puts them in sentences.
- ``convert``, ``serialize``: entries as messages to a model, messages as text for a summarizer.
- ``wording``: the templates as values; ``requests``: the requests that go to the summarizer.
- ``summary``: answers checked, merged and finished with the files.
- ``comparison``: one place of a session under several profiles, and the rules that tell there.
- ``triggers``: whether to compact without being asked; ``automatic``, ``background``: procedures of
  automatic compaction, whose steps others perform.
- ``branches``: what is left behind when another branch is taken, and its summary.

Nothing here reads files, knows a clock, a database or a network; what is needed comes in as
arguments. Positions count along the active path from 0, entries are named by index, sizes are
tokens unless a name says UTF-16 units.
"""
