"""How fast it is: search, the served API, streams, document retrieval, sign-in, batch."""
