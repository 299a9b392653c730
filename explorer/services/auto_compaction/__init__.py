"""Automatic compaction: when it runs, what holds it back, and prompts rendered to a budget.

``controller``: one session's decisions; ``runner``: one compaction without review;
``confirmation``: the question before it; ``guards``: what holds it back; ``prompt_gate``: the
agent's prompt within its budget; ``summary_strategies``: how a summary of such a prompt is asked
for; ``prompt``: rendering the prompt.
"""
