"""Whole invented letters as houses and practices send them: written out by hand, filled with drawn people and lists."""
