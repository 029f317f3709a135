"""What the notebooks stand on, and how they are run."""
