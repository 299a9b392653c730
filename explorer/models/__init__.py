"""Model calls: one client for the providers (through litellm) and the offline models."""
