"""What was kept and what was lost: ledger, fidelity, comparison, what-if.

Pure: entries, texts and numbers in, values out. Nothing here reads a file, a clock or a
database; entries come in through a reader that the caller passes.
"""
