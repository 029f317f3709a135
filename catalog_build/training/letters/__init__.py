"""Whole letters written and annotated by independent authors: every value of the form is marked where it stands.

One file an author (`l01.txt`), listed with split and setting in `authors.tsv`; `BRIEF.md` is all that an author sees.
Nothing is learned from or chosen on the split `report`. Files of the split `heads` (`h01.txt`) hold only what stands
above and below the text of a letter: single values are learned from them, lists are not.
"""

from catalog_build.training.letters.labelled import (
    LabelledLetter,
    LabelledValue,
    letter_authors,
    parse_letters,
    read_letters,
    summary,
)
from catalog_build.training.letters.varied import exchanged, misread, relined, values_by_field
