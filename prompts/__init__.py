"""The words sent to models, one Markdown template per prompt."""
