"""Only in development: a vendor to sign in with, people, an organization with documents. `flask --app webapp demo`."""
