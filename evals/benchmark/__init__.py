"""A public benchmark of German ICD-10-GM coding: our own texts, baselines, and a table made by one command."""
