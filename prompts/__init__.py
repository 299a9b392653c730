"""The words sent to models, one Markdown template per prompt.

A file may open with an HTML comment that says when it is sent and which variables it knows; the
comment is not sent. Variables are written ``{{name}}``.
"""
