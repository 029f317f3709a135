"""Builds the package with its data, which are made here of files that lie elsewhere in the repository."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


class WithData(build_py):  # type: ignore[misc] # setuptools has no types
    """Puts the texts beside the modules."""

    def run(self) -> None:
        """Build, then make the texts."""
        super().run()
        from evals.benchmark import making

        making.write(Path(self.build_lib) / "befund_bench" / "data")


setup(cmdclass={"build_py": WithData})
