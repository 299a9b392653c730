"""What was kept and what was lost: ledger, fidelity, comparison, what-if.

Pure: entries, texts and numbers in, dataclasses out. Nothing here reads a file, a clock or a
database; the JSON of entries comes in through a reader that the caller passes.
"""
