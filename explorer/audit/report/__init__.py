"""The audit as a document: HTML without scripts, Markdown, and JSON, all from one ``Report``."""

from explorer.audit.report.model import VERSION, Report
from explorer.audit.report.output import CHECKS, Failure, document, failures, html, markdown

__all__ = ["CHECKS", "VERSION", "Failure", "Report", "document", "failures", "html", "markdown"]
