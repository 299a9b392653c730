"""Extensions in the window: which are loaded, whom a person trusts, and what they did."""
