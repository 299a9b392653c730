"""What was needed again after compactions: the first page of the audit, and its threads on the
map."""
