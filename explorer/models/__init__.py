"""Every model behind one door: providers through litellm, and the offline ones."""
