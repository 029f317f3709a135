"""A query in other words: synonyms, mended slips, Latin for German, the past, weeks of pregnancy."""
