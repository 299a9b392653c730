"""The use cases that the window and the commands share; they reach them through
``explorer.workbench``.

One opened session: ``document`` has the parts ``compaction``, ``navigation``,
``edits``, ``drafts`` and ``agent`` over ``open_session``, whose state has the parts
``session_writer`` (appends), ``session_tokens`` (and counts) and ``privacy``; ``changes``
publishes. A summary: an order of ``draft_records`` -> ``summary_call`` -> ``drafts``, reviewed by
``extension_review``. Automatic compaction: ``auto_compaction`` under ``effective_rules``. The agent
at work: ``agent_turns``, ``session_replay``, ``session_files``. Audits: ``summary_audit``,
``verification``, ``audit_report``, ``recorded_session``, ``session_tokens``. Prompt templates:
``template_trials``. New sessions: ``session_forks``; their graph: ``skeleton``.
"""
