"""How texts are read: mentions, claims, what is shown of what is stated."""
