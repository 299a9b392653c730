"""A team's library on a server of the tests' own."""
