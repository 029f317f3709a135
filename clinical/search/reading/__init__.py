"""A text as tier 1 reads it: its mentions found, their cover chosen, how sure their codes are."""
