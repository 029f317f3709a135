"""Programs as callers: service accounts, their secrets and keys, and what they may do."""
