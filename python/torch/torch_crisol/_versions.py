"""The package has an extension for each minor version of PyTorch that it was built for, in the folder torch_2_15 and so
on."""

from __future__ import annotations

import importlib.util
import re
import runpy
from pathlib import Path
from types import ModuleType


def supported() -> list[str]:
    """The versions of PyTorch that have an extension, such as "2.15"."""
    folders = Path(__file__).parent.glob("torch_*_*/_device*.so")
    numbers = {tuple(int(part) for part in folder.parent.name.split("_")[1:]) for folder in folders}
    return [f"{major}.{minor}" for major, minor in sorted(numbers)]


def _prepare_opencl() -> None:
    """Lets the package crisol find OpenCL's loader and drivers. Only this part of crisol runs, because the whole
    package takes longer to import."""
    crisol = importlib.util.find_spec("crisol")
    if crisol is None or not crisol.submodule_search_locations:
        raise ImportError("torch_crisol needs the package crisol")
    runpy.run_path(str(Path(crisol.submodule_search_locations[0]) / "_opencl.py"))["prepare"]()


def load(version: str) -> ModuleType:
    """The extension for a version of PyTorch. Raises ImportError with advice if there is none."""
    found = re.match(r"(\d+)\.(\d+)", version)
    wanted = ".".join(found.groups()) if found else version
    versions = supported()
    if wanted not in versions:
        built = ", ".join(versions) or "no version"
        raise ImportError(
            f"torch_crisol is built for PyTorch {built}, and this is PyTorch {version}. Install one of these versions, "
            "or build torch_crisol for this one with CRISOL_TORCH_PYTHON"
        )
    _prepare_opencl()
    return importlib.import_module(f"torch_crisol.torch_{wanted.replace('.', '_')}._device")
