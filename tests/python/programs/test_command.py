"""`python -m crisol`: the command of the library, in a wheel or in a build tree."""

import json
import os
import subprocess
import sys

import crisol
import pytest
from crisol import __main__ as command


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "crisol", *arguments], capture_output=True, text=True)


@pytest.mark.skipif(command._command() is None, reason="the package was built without the command")
def test_the_command():
    assert run("--version").stdout.strip() == f"crisol {crisol.__version__}"
    devices = run("devices")
    assert devices.returncode == 0 and crisol.device().name in devices.stdout
    assert json.loads(run("doctor", "--json").stdout)
    for name in ("selftest", "bench", "tune", "onnx"):
        assert name in run(name, "--help").stdout
    wrong = run("nosuch")
    assert wrong.returncode == 2 and "nosuch" in wrong.stderr


def test_a_package_without_the_command(monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(SystemExit, match="built without CLI11"):
        command.main()
