"""crisol._opencl: how Intel's runtime in the Python environment joins the system's drivers."""

import os
import pathlib

import pytest
from crisol import _opencl

SYSTEM = {"pocl.icd": "libpocl.so.2\n", "gpu.icd": "/opt/gpu/libgpu.so\n"}


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """A system with two drivers, an environment with Intel's runtime, and no variable that names drivers."""
    for name in _opencl._VARIABLES:
        monkeypatch.setenv(name, "")  # So that the end of the test removes what was set.
        monkeypatch.delenv(name)
    monkeypatch.setenv("CRISOL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(_opencl, "_registered", lambda: dict(SYSTEM))
    monkeypatch.setattr(_opencl, "_find_runtime", lambda: "/env/lib/libintelocl.so")
    yield tmp_path
    monkeypatch.undo()


def vendors():
    folder = pathlib.Path(os.environ["OCL_ICD_VENDORS"])
    return folder, {path.name: path.read_text() for path in folder.iterdir()}


def test_the_folder_has_the_systems_drivers_and_the_runtime(environment, monkeypatch):
    _opencl._add_runtime()
    folder, files = vendors()
    assert files == {**SYSTEM, "crisol-intel.icd": "/env/lib/libintelocl.so\n"}
    assert folder.parent == environment / "cache"
    # The next process finds the folder. Other drivers are another folder.
    monkeypatch.delenv("OCL_ICD_VENDORS")
    _opencl._add_runtime()
    assert vendors()[0] == folder
    monkeypatch.delenv("OCL_ICD_VENDORS")
    monkeypatch.setattr(_opencl, "_registered", lambda: {})
    _opencl._add_runtime()
    assert vendors()[0] != folder
    assert len(list(folder.parent.iterdir())) == 2


def test_a_cache_that_cannot_be_made_gives_another_folder(environment, monkeypatch):
    (environment / "file").write_text("")
    monkeypatch.setenv("CRISOL_CACHE_DIR", str(environment / "file" / "cache"))
    _opencl._add_runtime()
    assert len(vendors()[1]) == 3


@pytest.mark.parametrize("name", _opencl._VARIABLES)
def test_drivers_that_the_user_names_stay(environment, monkeypatch, name):
    monkeypatch.setenv(name, "/mine")
    _opencl._add_runtime()
    assert os.environ[name] == "/mine"
    assert [variable for variable in _opencl._VARIABLES if variable in os.environ] == [name]


def test_a_runtime_that_the_system_has_is_not_added(environment, monkeypatch):
    monkeypatch.setattr(_opencl, "_registered", lambda: {"intel.icd": "/opt/intel/lib/libintelocl.so\n"})
    _opencl._add_runtime()
    assert "OCL_ICD_VENDORS" not in os.environ


def test_without_the_runtime_nothing_changes(environment, monkeypatch):
    monkeypatch.setattr(_opencl, "_find_runtime", lambda: None)
    _opencl._add_runtime()
    assert "OCL_ICD_VENDORS" not in os.environ
