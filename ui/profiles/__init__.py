"""Profiles: what each of them stands for, every rule in a sentence, and all of them compared."""
