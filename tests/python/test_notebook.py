"""samples/python/mnist.ipynb runs, learns, and shows its pictures."""

import re

import pytest
from checkout import root

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")


def test_mnist(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.delenv("MNIST_DIR", raising=False)
    notebook = nbformat.read(root / "samples/python/mnist.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
    nbclient.NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    printed = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    assert float(re.search(r"test accuracy: ([\d.]+)%", printed)[1]) > 80
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
