"""How often the right code is found, and what `high` and `medium` are worth."""
