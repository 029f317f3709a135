"""The workbench: people code a text, read a letter into fields and draft texts, and see why; the API key stays here."""
