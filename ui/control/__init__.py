"""What happens when something is asked for: each module one kind of request, over the workbench.

Views show and emit; these listen, call the workbench, and refresh the views from its changes.
"""
