"""Load: processor time in process, in turns with other code; the real servers under load by locust."""
