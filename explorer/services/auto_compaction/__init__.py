"""Automatic compaction: performs the steps of ``explorer.compaction.automatic``, and those of
``background`` for prompts rendered to a budget.

``controller``: one session's decisions; ``runner``: one compaction without review; ``guards``: what
holds it back, the question before it, and how the procedures look at a session; ``prompt_gate``:
the agent's prompt within its budget; ``summary_strategies``: how a summary of such a prompt is
asked for; ``prompt``: rendering the prompt.
"""
