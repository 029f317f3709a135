"""Clinical texts labelled by many independent authors: each mention with its claim, for half of the texts with codes.

One file an author (`a01.txt`), all listed with setting, country and split in `authors.tsv`; `BRIEF.md` is all that an
author sees. A file holds texts divided by lines of `===`; a mention is marked where it stands:

    Seit 3 Tagen {Husten|present}, kein {Fieber|excluded}. V. a. {Pneumonie|suspected/present|J18.9}
    ===
    Mutter mit {Brustkrebs|family|Z80.3}

The second field is the claim, after `/` another that is defensible; the third the codes, right ones separated by
spaces, defensible ones after `/`. The split of an author is given once and for all: nothing is fitted or chosen on
`report`, only thresholds and hyperparameters on `tune`.
"""

from catalog_build.training.authors.labelled import (
    CLAIMS,
    Author,
    LabelledMention,
    LabelledText,
    authors,
    parse,
    read,
    summary,
)
