"""BfArM's files as they are published, read into one `Source`."""

from catalog_build.official.source import CrossReference, Source, Synonym, read_source
