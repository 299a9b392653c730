"""What a session would have come to under other rules: a chart, totals, and a map of two sizes.

- ``lines``: walks as lines over the path; made on a worker thread. ``strokes``: how they are told
  apart.
- ``chart``, ``painting``: the chart; ``legend``: which lines are drawn.
- ``totals``: the table; ``heat``, ``sweep_page``: two sizes swept over a grid.
- ``own_rules``: further rules to draw; ``window``: all of it together.
"""
