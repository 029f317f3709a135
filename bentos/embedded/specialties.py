"""What medical specialties and their departments are called, where nothing else stands beside them."""

from __future__ import annotations

import re

SPECIALTY = re.compile(
    r"^(?:[\w-]*(?:ologie|iatrie|chirurgie|ädie|medizin|therapie|gynäkologie|urologie|hilfe|heilkunde|anästhesie|"
    r"chirurgie)|Innere(?:\s\w+)?|Psychosomatik|Palliative? \w+|Palliativ\w*|Physiotherapie|Intensivstation|Kreißsaal|"
    r"Medizin|Aufnahme|Notfall|Chirurgie|HNO|Memory Clinic|Med\. Klinik [IVX\d]+|Geburtshilfe|Onkologie|"
    r"\w+(?:ische|ische und \w+ische)\s(?:Chirurgie|Medizin|Onkologie|Tagesklinik|Rehabilitation|Radiologie))"
    r"(?:\s(?:und|&|/)\s[\w-]*(?:ologie|iatrie|chirurgie|ädie|medizin|therapie|hilfe|heilkunde|Chirurgie))?(?:\s(?:I|"
    r"II|III|IV|\d))?$",
    re.IGNORECASE,
)
