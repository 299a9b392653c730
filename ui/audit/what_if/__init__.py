"""What a session would have come to under other rules: a chart, totals, and a map of two sizes.

- ``lines``: simulated runs as lines over the path, made on a worker thread, and their strokes.
- ``chart``: the chart and its painting; ``totals``: which lines are drawn, and their figures.
- ``heat_map``, ``sweep``: two sizes swept over a grid.
- ``window``: all of it together, with the further rules that a person draws.
"""
