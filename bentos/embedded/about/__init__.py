"""Who a letter is about: name and birth date, sex, address."""

from bentos.embedded.about.address import AddressReader
from bentos.embedded.about.patient import PatientReader
from bentos.embedded.about.sex import stated_sex

__all__ = ["AddressReader", "PatientReader", "stated_sex"]
