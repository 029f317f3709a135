"""Reading of a text by tier 1: finds its mentions, chooses their cover, calibrates the confidence of their codes."""
