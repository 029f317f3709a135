"""Stored documents are read into fields and codes: `$extract` and its page; the result is kept only where asked."""
