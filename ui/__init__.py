"""The window. Uses `explorer` through the workbench and the typed changes it returns."""

from ui.binding import leave_sources_unread

leave_sources_unread()
