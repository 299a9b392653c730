"""How many tokens a text takes: by the estimate, by a tokenizer, by what a provider reported."""
