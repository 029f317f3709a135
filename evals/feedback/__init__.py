"""Reviewed codings as an evaluation set and as candidate synonyms."""
