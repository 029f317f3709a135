"""Offline: the official catalog files become checked tables and, from them, the search artifact."""
