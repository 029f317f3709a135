"""Many documents at once, for operators: import, link, verify, sweep; and the commands for it."""
