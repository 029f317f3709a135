"""API keys and their counters, on SQLite or PostgreSQL."""

from bentos.keys.database import NAME_MAX, open_database
from bentos.keys.keys import (
    PER_DAY,
    PER_MINUTE,
    KeyInfo,
    KeyLimits,
    Keys,
    KeysUnavailable,
    LimitReached,
    Standing,
    Unauthorized,
    open_keys,
)
