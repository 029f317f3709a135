"""The suite: mirrors the packages, real parts, fakes only behind the two ports."""
