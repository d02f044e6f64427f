"""The frame: devices, memory, copies, views, generators, streams and files."""

import copy
import io
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
import torch_crisol
from compare import DEVICE, assert_same, native


def test_torch_knows_the_device():
    assert torch.crisol is torch_crisol
    assert torch.crisol.is_available() and torch.crisol.device_count() >= 1
    x = torch.ones(3, device=DEVICE)
    assert x.device == torch.device("crisol", 0) and x.is_crisol
    assert torch.ones(2).crisol().device.type == "crisol"
    assert torch.nn.Linear(2, 2).crisol().weight.device.type == "crisol"
    assert torch.accelerator.is_available() and torch.accelerator.current_accelerator().type == "crisol"
    assert torch_crisol.get_device_name() and torch_crisol.get_device_properties(0).total_memory > 0


def test_current_device():
    assert torch_crisol.current_device() == 0
    with torch_crisol.device(0):
        assert torch.empty(1, device=DEVICE).device.index == 0
    with pytest.raises(RuntimeError, match="there is no device crisol:99"):
        torch_crisol.set_device(99)
    with pytest.raises(ValueError, match="Expected a crisol device"):
        torch_crisol.set_device("cpu")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8])
@pytest.mark.parametrize("dtype_of_copy", [None, torch.float32, torch.int64, torch.bool])
def test_copies(dtype, dtype_of_copy):
    x = torch.arange(24).reshape(2, 3, 4).to(dtype)
    for view in (x, x.transpose(0, 2), x[:, ::2], x[1], x[..., 1:], x.expand(5, 2, 3, 4), x[:0]):
        moved = view.to(DEVICE)
        assert_same(moved, view)
        assert_same(moved.to(dtype_of_copy or dtype), view.to(dtype_of_copy or dtype))
        target = torch.zeros(view.shape, dtype=dtype_of_copy or dtype)
        target.copy_(moved)
        assert_same(target, view.to(dtype_of_copy or dtype))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128, torch.float8_e4m3fn])
def test_types_that_the_library_does_not_have_move(dtype):
    x = torch.randn(3, 4).to(dtype)
    moved = x.to(DEVICE)
    assert torch.equal(moved.cpu().view(torch.uint8), x.view(torch.uint8))
    assert torch.equal(moved.t().contiguous().cpu().view(torch.uint8), x.t().contiguous().view(torch.uint8))


def test_lazy_bits_are_resolved():
    z = torch.randn(4, dtype=torch.complex64)
    moved = z.to(DEVICE)
    assert_same(moved.conj(), z.conj())
    assert_same(moved.conj().imag, z.conj().imag)
    assert_same(torch.view_as_real(moved), torch.view_as_real(z))


def test_views_share_memory():
    x = torch.arange(24.0).reshape(4, 6)
    y = x.to(DEVICE)
    for a in (x, y):
        a[1:3, ::2] += 10
        a.t()[0].mul_(2)
        a.view(-1)[5] = -1
        a.unfold(1, 3, 3)[0, 1, 2] = 7
        a.diagonal().zero_()
        a.view(torch.int32)[3, 5] = 0
    assert_same(y, x)
    assert y[1:].data_ptr() == y.data_ptr() + 6 * 4
    assert y.untyped_storage().data_ptr() == y[2:].untyped_storage().data_ptr()


def test_overlapping_copies_within_a_tensor():
    x = torch.arange(6.0)
    y = x.to(DEVICE)
    y[1:] = y[:-1].clone()
    x[1:] = x[:-1].clone()
    assert_same(y, x)


def test_resize_and_set():
    y = torch.arange(4.0, device=DEVICE)
    y.resize_(2, 3)
    assert_same(y.flatten()[:4], torch.arange(4.0))
    z = torch.empty(0, device=DEVICE).set_(y.untyped_storage(), 1, (2,), (2,))
    assert_same(z, torch.tensor([1.0, 3.0]))
    z.set_()
    assert z.numel() == 0
    y.untyped_storage().resize_(64)
    assert_same(y.flatten()[:4], torch.arange(4.0))
    assert y.untyped_storage().nbytes() == 64


def test_printing_and_items():
    x = torch.tensor([[1.5, -2.0], [0.25, 1e-3]], device=DEVICE)
    assert "device='crisol:0'" in repr(x) and "1.5000e+00" in repr(x)
    assert x[0, 1].item() == -2.0 and x.tolist()[1][0] == 0.25
    assert bool(torch.tensor([True], device=DEVICE)) and int(torch.tensor(7, device=DEVICE)) == 7


def test_files_and_copies_keep_the_device():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).to(DEVICE)
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    state = torch.load(buffer)
    assert all(value.device.type == "crisol" for value in state.values())
    assert_same(state, {key: value.cpu() for key, value in model.state_dict().items()})
    buffer.seek(0)
    assert all(value.device.type == "cpu" for value in torch.load(buffer, map_location="cpu").values())
    twin = copy.deepcopy(model)
    assert twin[0].weight.device.type == "crisol" and twin[0].weight.data_ptr() != model[0].weight.data_ptr()
    assert_same(pickle.loads(pickle.dumps(model[0].weight.detach())), model[0].weight.detach().cpu())


def test_generators():
    torch.manual_seed(3)
    first = torch.rand(5, device=DEVICE)
    state = torch_crisol.get_rng_state()
    second = torch.randn(5, device=DEVICE)
    torch_crisol.set_rng_state(state)
    assert_same(torch.randn(5, device=DEVICE), second.cpu())
    torch_crisol.manual_seed(3)
    assert_same(torch.rand(5, device=DEVICE), first.cpu())
    assert torch_crisol.initial_seed() == 3
    own = torch.Generator(device=DEVICE).manual_seed(3)
    assert_same(torch.rand(5, device=DEVICE, generator=own), first.cpu())
    assert_same(torch.randperm(50, device=DEVICE).sort().values, torch.arange(50))
    with torch.random.fork_rng(devices=[0], device_type="crisol"):
        inside = torch.rand(3, device=DEVICE)
    assert_same(torch.rand(3, device=DEVICE), inside.cpu())
    draws = torch.randint(2, 9, (1000,), device=DEVICE).cpu()
    assert draws.min() == 2 and draws.max() == 8


def test_dropout_is_repeatable():
    x = torch.ones(1000, device=DEVICE, requires_grad=True)
    torch.manual_seed(5)
    y = torch.nn.functional.dropout(x, 0.25)
    torch.manual_seed(5)
    assert_same(torch.nn.functional.dropout(x, 0.25), y.cpu())
    y.sum().backward()
    assert_same(x.grad, y.cpu())
    kept = (y != 0).float().mean().item()
    assert 0.65 < kept < 0.85


def test_streams_and_events():
    start, end = (torch.Event(DEVICE, enable_timing=True), torch_crisol.Event(enable_timing=True))
    start.record()
    x = torch.randn(300, 300, device=DEVICE)
    x = x @ x
    end.record()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0
    stream = torch_crisol.Stream()
    stream.synchronize()
    with torch_crisol.stream(stream):
        assert_same(x + 1, (x + 1).cpu())
    torch_crisol.synchronize()
    torch.accelerator.synchronize()


def test_memory_is_counted():
    torch_crisol.synchronize()
    before = torch_crisol.memory_allocated()
    x = torch.empty(1 << 20, device=DEVICE)
    assert torch_crisol.memory_allocated() - before >= 4 << 20
    assert torch_crisol.max_memory_allocated() >= torch_crisol.memory_allocated()
    del x
    assert torch_crisol.memory_allocated() <= before
    torch_crisol.empty_cache()
    torch_crisol.reset_peak_memory_stats()
    assert torch_crisol.max_memory_allocated() <= before
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 46, device=DEVICE)


def test_pinned_memory_and_loaders():
    x = torch.arange(10.0).pin_memory()
    assert x.is_pinned() and not torch.arange(3).is_pinned()
    data = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))
    loader = torch.utils.data.DataLoader(data, batch_size=2, pin_memory=True, num_workers=1)
    seen = [label.to(DEVICE, non_blocking=True) for _, label in loader]
    assert_same(torch.cat(seen), torch.arange(6))


def test_threads():
    results = {}

    def work(number):
        x = torch.full((64, 64), float(number), device=DEVICE, requires_grad=True)
        (x @ x).sum().backward()
        results[number] = x.grad.sum().item()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: 2.0 * number * 64**3 for number in range(4)}


def test_fallback_modes():
    x = torch.randn(4, 4, device=DEVICE)
    with pytest.raises(NotImplementedError, match="aten::linalg_inv_ex.*does not run on the device"), native():
        torch.linalg.inv(x)
    with torch_crisol.fallbacks() as notes:
        assert_same(torch.linalg.inv(x), torch.linalg.inv(x.cpu()))
    assert any("linalg_inv_ex" in name for name in notes)
    with pytest.raises(ValueError, match='not "never"'):
        torch_crisol.set_fallback("never")
    assert "add.out" in torch_crisol.native_ops()


def test_fallback_in_place_on_views():
    x = torch.arange(12.0).reshape(3, 4)
    y = x.to(DEVICE)
    for a in (x, y):
        a.t()[1:3].lgamma_().digamma_()
    assert_same(y, x)


def test_errors_are_those_of_pytorch():
    x = torch.ones(2, 3, device=DEVICE)
    with pytest.raises(RuntimeError, match="must match the size"):
        x + torch.ones(4, device=DEVICE)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        x @ x
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + torch.ones(2, 3)


def run(program, **environment):
    variables = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=variables, timeout=300)


def test_warns_once_for_each_op():
    program = "import torch, torch_crisol\nx = torch.eye(3, device='crisol')\nfor _ in range(3): torch.linalg.inv(x)\n"
    result = run(program)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("linalg_inv_ex") == 1
    assert run(program, CRISOL_TORCH_FALLBACK="silent").stderr == ""
    assert "NotImplementedError" in run(program, CRISOL_TORCH_FALLBACK="error").stderr


def test_a_forked_child_is_refused():
    program = (
        "import os, torch, torch_crisol\nx = torch.ones(3, device='crisol'); x.sum().item()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n        torch.ones(3, device='crisol') + 1\n        os._exit(1)\n"
        "    except RuntimeError as error:\n        os._exit(7 if 'fork' in str(error) else 2)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    result = run(program)
    assert result.stdout.strip() == "7", result.stdout + result.stderr


@pytest.mark.parametrize("first", ["torch", "torch_crisol"])
def test_importing_torch_finds_the_device(first):
    result = run(f"import {first}, torch; print(torch.ones(2, device='crisol').sum().item())")
    assert (result.stdout, result.returncode) == ("2.0\n", 0), result.stderr


def test_exit_with_queued_work():
    program = "import torch, torch_crisol\nx = torch.randn(500, 500, device='crisol')\nfor _ in range(20): x = x @ x\n"
    result = run(program)
    assert result.returncode == 0 and result.stderr == "", result.stderr


def test_the_page_of_ops_is_up_to_date():
    """docs/pytorch_ops.py writes it."""
    root = Path(__file__).resolve().parents[2]
    page = subprocess.run(
        [sys.executable, root / "docs/pytorch_ops.py"], capture_output=True, text=True, check=True
    ).stdout
    assert page == (root / "docs/pytorch-ops.md").read_text()


def test_public_names_have_docstrings():
    for name in torch_crisol.__all__:
        assert getattr(torch_crisol, name).__doc__, name
