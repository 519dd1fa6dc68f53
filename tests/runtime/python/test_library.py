"""Finding libnvfp4rt.so, and refusing one that is not this package's."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import nvfp4rt
from nvfp4rt._version import __version__

# Imports the package with another library in the place of libnvfp4rt.
SHIM = """
from unittest import mock

class Version:
    def __call__(self):
        return b"0.2.0"

class Other:
    def __getattr__(self, name):
        {found}

with mock.patch("ctypes.CDLL", lambda path: Other()):
    import nvfp4rt
"""


class Library(unittest.TestCase):
    def import_error(self, code: str = "import nvfp4rt", **environment: str) -> str:
        """The last line of an import that fails."""
        result = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        return result.stderr.splitlines()[-1]

    def test_the_named_library_and_no_other(self) -> None:
        self.assertRegex(
            self.import_error(NVFP4RT_LIBRARY="/nonexistent.so"),
            r"^ImportError: libnvfp4rt was not found; .* NVFP4RT_LIBRARY \(/nonexistent\.so: cannot",
        )

    def test_the_loaders_library(self) -> None:
        # A source tree has no library beside it; without a name the loader is asked.
        error = self.import_error(NVFP4RT_LIBRARY="", LD_LIBRARY_PATH="/nonexistent")
        self.assertIn("libnvfp4rt.so.0.1: cannot open", error)
        with tempfile.TemporaryDirectory() as folder:
            soname = "libnvfp4rt.so." + __version__.rsplit(".", 1)[0]
            Path(folder, soname).symlink_to(os.environ["NVFP4RT_LIBRARY"])
            subprocess.run(
                [sys.executable, "-c", "import nvfp4rt"],
                env={**os.environ, "NVFP4RT_LIBRARY": "", "LD_LIBRARY_PATH": folder},
                check=True,
            )

    def test_another_version(self) -> None:
        self.assertRegex(
            self.import_error(SHIM.format(found="return Version()")),
            r"^ImportError: .*: expected libnvfp4rt 0\.1\.x, as this package, found 0\.2\.0$",
        )

    def test_a_library_without_a_function(self) -> None:
        self.assertRegex(
            self.import_error(SHIM.format(found="raise AttributeError(name)")),
            r"^ImportError: .*: expected libnvfp4rt 0\.1\.x, found no nvfp4rt_version$",
        )

    def test_version(self) -> None:
        self.assertEqual(nvfp4rt.__version__, __version__)


if __name__ == "__main__":
    unittest.main()
