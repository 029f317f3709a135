"""A public benchmark of German clinical text: a package of its own, the making of its data, Befund's answers to it."""
