"""The conversation and the composer by themselves."""
