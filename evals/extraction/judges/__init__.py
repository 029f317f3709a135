"""Traps, exchanged values, and a benchmark of judges: what else checks whether a text evidences a value."""
