"""What a person sets by hand: the keys, the files they stand in, and what holds where."""
