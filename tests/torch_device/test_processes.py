"""Forks, workers of a DataLoader, spawned processes, memory that runs out, and the end of a process."""

import subprocess
import sys

import pytest
import torch

HEAD = "import os, torch, torch_crisol\nx = torch.ones(3, device='crisol'); x.sum().item()\n"


def run(program, folder=None):
    """Runs a program that must end by itself."""
    arguments = [sys.executable, "-c", program]
    if folder is not None:  # Spawned processes import the file of their functions.
        (folder / "program.py").write_text(program)
        arguments = [sys.executable, str(folder / "program.py")]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


IN_CHILD = """
def attempt():
    try:
        {action}
    except RuntimeError as error:
        return 7 if 'fork' in str(error) else 2
    return 0
child = os.fork()
if child == 0:
    code = attempt()
    del x
    os._exit(code)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), x.sum().item())
"""
ACTIONS = [
    "torch.ones(3, device='crisol')",
    "torch.ones(3).to('crisol')",
    "x + 1",
    "x.cpu()",
    "x.add_(1)",
    "x[0] = 5",
    "x.clone()",
    "print(x)",
    "torch.linalg.inv(torch.eye(3).to('crisol'))",
    "torch_crisol.init()",
    "torch_crisol.synchronize()",
    "torch.accelerator.synchronize()",
    "torch.Event('crisol').record()",
    "torch_crisol.get_rng_state()",
]


@pytest.mark.parametrize("action", ACTIONS)
def test_a_forked_child_is_refused(action):
    assert run(HEAD + IN_CHILD.format(action=action)) == "7 3.0\n"


def test_a_forked_child_may_use_the_cpu():
    action = "assert torch.ones(3).sum() == 3; torch.manual_seed(1); assert x.shape == (3,); return 9"
    assert run(HEAD + IN_CHILD.format(action=action)) == "9 3.0\n"


def test_a_forked_child_ends_by_itself():
    """A child that owns tensors and ends as Python programs do."""
    program = HEAD + "y = x + 1\nchild = os.fork()\nif child == 0: raise SystemExit(4)\n"
    program += "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), y.sum().item())\n"
    assert run(program) == "4 6.0\n"


def test_workers_of_a_loader():
    program = HEAD + (
        "data = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))\n"
        "for epochs, settings in ((2, {}), (1, dict(persistent_workers=True)), (1, dict(pin_memory=True))):\n"
        "    loader = torch.utils.data.DataLoader(data, batch_size=2, num_workers=2, **settings)\n"
        "    for _ in range(epochs):\n"
        "        print(sum((a.to('crisol').sum() + b.to('crisol').sum()).item() for a, b in loader))\n"
    )
    assert run(program) == "81.0\n" * 4


LOADER = """
import torch, torch_crisol
class Data(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return torch.full((2,), float(i), device='crisol')
if __name__ == '__main__':
    torch.ones(1, device='crisol').item()
    settings = dict(num_workers={workers}, multiprocessing_context={context!r})
    loader = torch.utils.data.DataLoader(Data(), batch_size=2, **settings)
    try:
        print(sum(x.sum().item() for x in loader))
    except Exception as error:
        print(type(error).__name__, 'fork' in str(error), 'another process' in str(error))
"""


def test_workers_that_compute_get_an_error(tmp_path):
    assert run(LOADER.format(workers=0, context=None), tmp_path) == "12.0\n"
    assert run(LOADER.format(workers=1, context="fork"), tmp_path) == "RuntimeError True False\n"


def test_spawned_processes_compute(tmp_path):
    program = (
        "import torch, torch_crisol\nimport torch.multiprocessing as mp\n"
        "def work(queue):\n    x = torch.arange(4.0, device='crisol')\n    queue.put((x @ x).item())\n"
        "if __name__ == '__main__':\n"
        "    torch.ones(2, device='crisol').sum().item()\n"
        "    context = mp.get_context('spawn')\n    queue = context.Queue()\n"
        "    child = context.Process(target=work, args=(queue,))\n    child.start()\n"
        "    print(queue.get(timeout=500))\n    child.join(); print(child.exitcode)\n"
    )
    assert run(program, tmp_path) == "14.0\n0\n"


def test_memory_that_runs_out():
    program = HEAD + (
        "try: torch.empty(1 << 46, device='crisol')\n"
        "except torch.OutOfMemoryError as error: print('too large')\n"
        "torch_crisol.empty_cache()\n"
        "total = torch_crisol.get_device_properties().total_memory\n"
        "torch_crisol.set_per_process_memory_fraction((torch_crisol.memory_allocated() + (8 << 20)) / total)\n"
        "model = torch.nn.Linear(256, 256).to('crisol')\n"
        "kept = []\n"
        "try:\n"
        "    while True: kept.append(model(torch.ones(512, 256, device='crisol')).relu())\n"
        "except torch.OutOfMemoryError: print('out of memory', len(kept) > 1)\n"
        "kept.clear()\n"
        "for _ in range(20): model(torch.ones(512, 256, device='crisol')).sum().backward()\n"
        "print(model.bias.grad.sum().item())\n"
        "try: x.resize_(1 << 24)\n"
        "except torch.OutOfMemoryError: print('no room to grow', x.shape, x.tolist())\n"
    )
    expected = f"too large\nout of memory True\n{20.0 * 512 * 256}\nno room to grow torch.Size([3]) [1.0, 1.0, 1.0]\n"
    assert run(program) == expected


VERSIONS = """
import warnings, torch
torch.__version__ = {version!r}
import torch_crisol_autoload
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    torch_crisol_autoload.autoload()
print([str(warning.message) for warning in found])
try:
    import torch_crisol
    print(torch_crisol.is_available())
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("version", ["2.99.1+cu130", "unknown"])
def test_another_version_of_torch(version, monkeypatch):
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    warning, error = run(VERSIONS.format(version=version)).splitlines()
    assert "PyTorch has no device 'crisol'" in warning
    built = ".".join(torch.__version__.split(".")[:2])
    assert f"is built for PyTorch {built}, and this is PyTorch {version}. Install" in error


def test_this_version_of_torch(monkeypatch):
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    assert run(VERSIONS.format(version=torch.__version__)) == "[]\nTrue\n"


WORK = "y = torch.randn(300, 300, device='crisol')\nfor _ in range(30): y = y @ y / 300\n"
ENDS = {
    "queued work": WORK,
    "sys.exit": "import sys\ny = x\nfor _ in range(99): y = y + 1\nsys.exit(0)",
    "an event": "event = torch.Event('crisol')\n" + WORK + "event.record()",
    "a thread": f"import threading\ndef work():\n    exec({WORK!r})\nthreading.Thread(target=work).start()",
    "a cycle": "class A: pass\na = A(); a.me = a; a.x = x; a.y = x + 1",
    "a global of a module": "torch.keep = x + 1; torch_crisol.keep = torch.nn.Linear(2, 2).to('crisol')",
    "a backward pass": "net = torch.nn.Linear(300, 300).to('crisol')\n"
    "for _ in range(10): net(torch.ones(300, 300, device='crisol')).sum().backward()",
    "an exit hook": "import atexit; atexit.register(lambda: (x + 1).sum().item())",
}


@pytest.mark.parametrize("name", ENDS)
def test_the_process_ends(name):
    result = subprocess.run(
        [sys.executable, "-c", HEAD + ENDS[name]], capture_output=True, text=True, check=False, timeout=600
    )
    assert (result.returncode, result.stderr) == (0, "")
