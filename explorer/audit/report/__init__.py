"""The audit as a document: HTML without scripts, Markdown, and JSON, all from one ``Report``."""

from explorer.audit.report.checks import CHECKS, Failure, failures
from explorer.audit.report.html import html
from explorer.audit.report.json_form import document
from explorer.audit.report.markdown import markdown
from explorer.audit.report.model import VERSION, Report

__all__ = ["CHECKS", "VERSION", "Failure", "Report", "document", "failures", "html", "markdown"]
