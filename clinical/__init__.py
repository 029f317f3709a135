"""Domain library on ICD codes, German clinical text and evidence. No web, no database, no server."""

__version__ = "0.1.0"
