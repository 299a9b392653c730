"""Sessions with marked atoms, and how many of them the extraction finds.

    python -m tests.audit.planted             prints precision and recall per kind
    python -m tests.audit.planted --wrong     and names what was missed and what was made up
    python -m tests.audit.planted --set NAME  of one set alone: tuning, held_out or unseen

A text is a session: ``[user]``, ``[assistant]``, ``[result]``, ``[error]`` (a result that is
one) and ``[call NAME]`` with ``argument: value`` lines. ``«kind|text»`` marks an atom, marks may
stand in marks, and ``«kind~|text»`` is stale at the end of the session.

What is marked:

* paths, versions, URLs, hashes (commits, digests, UUIDs, tickets) and whole command lines;
* figures with what they measure (``250 ms``, ``5 retries``, ``port 5433``), not list numbers,
  dates, times of day and line numbers;
* of tool results the lines that tell of a failure; of results of at most eight lines also
  hashes, versions and URLs; of tool calls the path, the command and the URL;
* what the user demands, forbids or limits, what either decides, what is asked and not answered
  in the same breath, what each user message asks for, what is left to do.

Inside a marked command or failure nothing else need be marked, and nothing found there counts as
made up. Symbols are marked where a text speaks of them; what is found beyond is not counted.
"""
