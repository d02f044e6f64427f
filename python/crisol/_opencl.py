"""Prepares OpenCL's loader. crisol imports this module before its extension.

The extension needs libOpenCL.so.1. The system's loader is preferred, because it knows where the system's drivers are. A
wheel also contains a loader. The dynamic linker uses it if the system has none.

`pip install crisol[cpu]` installs Intel's OpenCL runtime for CPUs in the Python environment, where no loader looks for
drivers. A loader reads .icd files from one folder. So this module gives it a folder with the system's files and one
more for Intel's runtime.
"""

import ctypes
import hashlib
import os
import sys
import tempfile

_SYSTEM_FOLDER = "/etc/OpenCL/vendors"
_RUNTIME = "libintelocl.so"
# If one of these variables is set, the user has chosen the drivers.
_VARIABLES = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH")


def _find_runtime() -> str | None:
    """The path of Intel's runtime in this Python environment. It is next to the environment's packages, or below its
    prefix."""
    here = os.path.abspath(__file__)
    for folder in (os.path.join(here, "../../../.."), os.path.join(sys.prefix, "lib")):
        path = os.path.join(os.path.normpath(folder), _RUNTIME)
        if os.path.exists(path):
            return path
    return None


def _registered() -> dict[str, str]:
    """The system's .icd files by name."""
    files = {}
    try:
        names = sorted(os.listdir(_SYSTEM_FOLDER))
    except OSError:
        return files
    for name in names:
        if name.endswith(".icd"):
            try:
                with open(os.path.join(_SYSTEM_FOLDER, name), encoding="utf-8", errors="surrogateescape") as file:
                    files[name] = file.read()
            except OSError:  # The loader cannot read this file either.
                pass
    return files


def _write(folder: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)


def _cache_folder() -> str:
    """The library's cache folder, chosen as in lib/base/system_posix.cpp."""
    if folder := os.environ.get("CRISOL_CACHE_DIR"):
        return folder
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "crisol")


def _vendors_folder(files: dict[str, str]) -> str:
    """A folder with these files. A hash of the files is in its name, so equal files are in one folder."""
    digest = hashlib.sha256(repr(sorted(files.items())).encode("utf-8", "surrogateescape")).hexdigest()
    cache = _cache_folder()
    folder = os.path.join(cache, "vendors-" + digest[:16])
    try:
        if not os.path.isdir(folder):
            os.makedirs(cache, mode=0o700, exist_ok=True)
            fresh = tempfile.mkdtemp(prefix="vendors-", dir=cache)
            _write(fresh, files)
            try:
                os.rename(fresh, folder)
            except OSError:  # Another process made the folder first.
                for name in files:
                    os.unlink(os.path.join(fresh, name))
                os.rmdir(fresh)
        if os.stat(folder).st_uid == os.geteuid():
            return folder
    except OSError:
        pass
    # The cache is not writable, or another user made the folder.
    folder = tempfile.mkdtemp(prefix="crisol-vendors-")
    _write(folder, files)
    return folder


def _add_runtime() -> None:
    """Makes the loader find Intel's runtime in this environment, in addition to the registered drivers."""
    if any(os.environ.get(name) for name in _VARIABLES):
        return
    runtime = _find_runtime()
    if runtime is None:
        return
    files = _registered()
    if any(_RUNTIME in text for text in files.values()):
        return  # The runtime is registered. Without this return, its devices would exist twice.
    files["crisol-intel.icd"] = runtime + "\n"
    os.environ["OCL_ICD_VENDORS"] = _vendors_folder(files)


def prepare() -> None:
    """Must be called once, before the extension is loaded."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL("libOpenCL.so.1")
    except OSError:  # The dynamic linker will find the wheel's loader.
        pass
    _add_runtime()
