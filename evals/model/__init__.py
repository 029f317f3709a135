"""A language model measured on public texts: tiers, letters, lies, drafts, speed and cost, in one report."""
