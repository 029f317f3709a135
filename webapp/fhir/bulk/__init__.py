"""What an operator does with many documents at once: import, link, verify, sweep; and the commands for it."""
