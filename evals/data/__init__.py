"""Data sets of our own with their cards, and how data sets and cards are read."""
