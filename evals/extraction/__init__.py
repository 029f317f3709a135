"""What passes grounding, what it removes, and how much of a letter is found."""
