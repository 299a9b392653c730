"""What compactions keep and what they lose."""
