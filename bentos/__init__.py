"""Served: the text API (BentoML services that mount one FastAPI application)."""
