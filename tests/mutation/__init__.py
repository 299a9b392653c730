"""Small changes of the code, one at a time, that the tests must notice."""
