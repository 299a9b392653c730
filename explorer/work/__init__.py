"""What the workbench is made of: an opened session, its drafts, its navigation and its agent.

The window and the commands reach this only through ``explorer.workbench``.
"""
