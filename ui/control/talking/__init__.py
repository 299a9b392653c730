"""Talking to the agent: what is sent, what is asked back, where and how it works."""

from ui.control.talking.control import AgentControl

__all__ = ["AgentControl"]
