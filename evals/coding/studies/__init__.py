"""What is asked beside how good it is: parts taken away, other years, costs, near-duplicates, own synonyms."""
