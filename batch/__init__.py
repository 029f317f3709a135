"""Millions of texts: codes for every row of a file, in process, resumable; no server is needed."""
