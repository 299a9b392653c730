"""The window. Talks to `explorer` through the workbench and the typed changes it returns."""
