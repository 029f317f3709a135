"""Evaluates the reading of texts: mentions, claims, and the share of stated diseases that is shown."""
