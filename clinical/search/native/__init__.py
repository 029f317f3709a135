"""The loops of the search as machine code: C without Python in it, compiled once, called with arrays of numpy."""
