"""The prompt workshop: the words sent to models, seen, changed, compared and tried."""
