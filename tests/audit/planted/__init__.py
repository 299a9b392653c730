"""Sessions with marked facts, and how many of them the extraction finds.

    python -m tests.audit.planted             prints precision and recall per kind
    python -m tests.audit.planted --wrong     and names what was missed and what was made up
    python -m tests.audit.planted --set NAME  of one set alone: tuning, held_out, unseen or fresh

A text is a session: ``[user]``, ``[assistant]``, ``[result]``, ``[error]`` (a result that is
one) and ``[call NAME]`` with ``argument: value`` lines. ``«kind|text»`` marks a fact, marks may
stand in marks, and ``«kind~|text»`` is stale at the end of the session.

What is marked:

* paths, versions, URLs, hashes (commits, digests, UUIDs, tickets) and whole command lines;
* figures with what they measure (``250 ms``, ``5 retries``, ``port 5433``), not list numbers,
  dates, times of day and line numbers;
* of tool results the lines that tell of a failure; of results of at most eight lines also
  hashes, versions and URLs; of tool calls the path, the command and the URL;
* the statements, each as the sentence or the clause that says it:

  - constraint: what the user demands, forbids or limits for the work from now on, in any words
    ("hands off the billing module", "keep it under 200 ms", "Python 3.9 has to keep working",
    "I'd rather you didn't touch main", "comments in English please"). One that the user changes
    or takes back later is stale. What the assistant repeats of it is none;
  - decision: user or assistant settles on one way where others were possible: a design, a value,
    a tool, a name, what is dropped or postponed, a limit taken back, also as the answer to a
    question ("B then", "yes, the second one", "I went with a queue instead of polling",
    "settled: 30 days", "we keep X"). Not the report of a repair, not the announcement of the
    next step ("I'll run the tests now"), not a proposal, not an order to do
    something, not what others do;
  - request: what a user message asks to be done now, in any words (an order, a question that
    wants work done, "would be nice if", "next up: ...", "go on"). A question that wants an answer
    is a question;
  - question: asked by either and not answered in the same breath;
  - todo: left to do later, said by either ("still open", "left for tomorrow", "not done yet:",
    "we should come back to", "follow-up:").

  A sentence may be several of them, marked in each other. Failure lines that a message quotes on
  lines of their own are marked as in results.

Inside a marked command or failure nothing else need be marked, and nothing found there counts as
made up. Symbols are marked where a text speaks of them; what is found beyond is not counted.
"""
