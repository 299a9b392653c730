"""Models that need no network and no key."""
