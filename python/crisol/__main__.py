"""The command: `python -m crisol devices`. `python -m crisol --help` lists what there is."""

import os
import subprocess
import sys
from typing import NoReturn


def _command() -> str | None:
    """The path of the program. In a wheel it is next to this file, in a build tree in BUILD/bin."""
    here = os.path.dirname(os.path.abspath(__file__))
    name = "crisol.exe" if os.name == "nt" else "crisol"
    for folder in (os.path.join(here, "bin"), os.path.join(here, "..", "..", "bin")):
        path = os.path.normpath(os.path.join(folder, name))
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


def main() -> NoReturn:
    """Runs the command with this program's arguments. Where possible, it replaces this process."""
    path = _command()
    if path is None:
        sys.exit("crisol: this installation has no command: it was built without CLI11 (Debian: libcli11-dev)")
    # The command gets this process's environment, in which crisol/_opencl.py has made the environment's drivers
    # known.
    arguments = ["crisol", *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.run(arguments, executable=path).returncode)
    sys.stdout.flush()
    os.execv(path, arguments)


if __name__ == "__main__":
    main()
