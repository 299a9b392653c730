"""The window. Uses `explorer` through the workbench and the typed changes it returns."""
