"""Where the samples and pages are: beside these tests, or where CRISOL_TEST_ROOT says if the tests were copied."""

import os
import pathlib

root = pathlib.Path(os.environ.get("CRISOL_TEST_ROOT", pathlib.Path(__file__).resolve().parents[2]))
