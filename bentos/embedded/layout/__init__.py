"""How the lines of a letter or form are set: columns, tables, records, parts of forms, and what a scan made of them."""

from bentos.embedded.layout.columns import cells_of, header_row, unfolded, untabled
from bentos.embedded.layout.scans import mended, unspread

__all__ = ["cells_of", "header_row", "mended", "unfolded", "unspread", "untabled"]
