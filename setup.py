"""Compiles the search's loops as `clinical/search/native/library.py` does, which pyproject.toml cannot say.

A machine without a C compiler gets everything else; whoever searches there is told what is missing.
"""

import runpy
from pathlib import Path
from subprocess import SubprocessError

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

NATIVE = runpy.run_path(str(Path(__file__).with_name("clinical") / "search" / "native" / "library.py"))


class Library(build_ext):
    """Compiles a library without Python in it, under a name without Python's version."""

    def get_ext_filename(self, fullname):
        return str(Path(*fullname.split(".")).with_name(NATIVE["LIBRARY"].name))

    def build_extension(self, ext):
        try:
            NATIVE["compile_into"](Path(self.get_ext_fullpath(ext.name)).absolute())
        except (OSError, SubprocessError) as error:
            raise CompileError(str(error)) from error


setup(
    ext_modules=[
        Extension(
            "clinical.search.native._loops",
            [f"clinical/search/native/{path.name}" for path in NATIVE["SOURCES"]],
            optional=True,
        )
    ],
    cmdclass={"build_ext": Library},
)
