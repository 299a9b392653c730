"""Parts of the prompt workshop by themselves."""
