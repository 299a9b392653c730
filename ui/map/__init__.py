"""The session map: the tree drawn over time, its list, its minimap, and the cut on it.

``pane`` holds the widget. Nothing is imported here, so that the layout works without Qt.
"""
