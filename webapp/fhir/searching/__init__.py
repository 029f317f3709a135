"""Searching: query strings become searches, searches become one SQL statement each."""
