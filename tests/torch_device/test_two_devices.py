"""Two devices in one process. conftest.py asks PoCL for two."""

import io
import threading

import crisol
import pytest
import torch
import torch_crisol
from compare import assert_same
from torch import nn

pytestmark = pytest.mark.skipif(torch_crisol.device_count() < 2, reason="there is one device")


@pytest.fixture(autouse=True)
def first_device():
    yield
    torch_crisol.set_device(0)


def test_tensors_are_on_their_device():
    x, y = (torch.arange(6.0, device=f"crisol:{number}") for number in (0, 1))
    assert (x.device.index, y.device.index) == (0, 1)
    for result in (y + 1, y.sum(), y.reshape(2, 3) @ y.reshape(3, 2), y.sort().values, torch.linalg.norm(y)):
        assert result.device.index == 1
    assert torch_crisol.current_device() == 0
    with torch_crisol.device(1):
        assert torch.zeros(2, device="crisol").device.index == 1
        assert torch.ones(2).to("crisol").device.index == 1 and torch.ones(2).crisol().device.index == 1
    with torch_crisol.device_of(y):
        assert torch_crisol.current_device() == 1
    with torch.accelerator.device_index(1):
        assert torch.accelerator.current_device_index() == 1
    with pytest.raises(ValueError), torch_crisol.device(1):
        raise ValueError
    assert torch_crisol.current_device() == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64])
def test_copies_between_devices(dtype):
    x = torch.arange(24).reshape(4, 6).to(dtype)
    first = x.to("crisol:0")
    for view in (lambda t: t, lambda t: t.t(), lambda t: t[1:, ::2], lambda t: t[:0], lambda t: t[1:2].expand(3, 6)):
        second = view(first).to("crisol:1")
        assert second.device.index == 1
        assert_same(second, view(x))
        assert_same(second.to("crisol:0"), view(x))
    target = torch.zeros(6, 4, device="crisol:1")
    if not dtype.is_complex:
        target.t().copy_(first)
        assert_same(target.t(), x.float())


def test_tensors_of_two_devices_do_not_mix():
    x, y = torch.ones(2, 2, device="crisol:0"), torch.ones(2, 2, device="crisol:1")
    message = "Expected all tensors to be on the same device"
    calls = [
        lambda a, b: a + b,
        torch.mm,
        lambda a, b: torch.cat([a, b]),
        lambda a, b: nn.functional.embedding(b.long(), a),
        lambda a, b: nn.functional.conv1d(a[None], b[None]),
        lambda a, b: nn.functional.layer_norm(a, (2,), b[0]),
    ]
    for call in calls:
        for a, b in ((x, y), (y, x), (x, torch.ones(2, 2))):
            with pytest.raises(RuntimeError, match=message):
                call(a, b)
    for a, b in ((x, y), (y, x)):
        with pytest.raises(RuntimeError):  # PyTorch's own check has another message.
            torch.linalg.solve(a, b)
    assert_same(x + torch.tensor(2.0), torch.full((2, 2), 3.0))
    assert_same(x[torch.tensor([1])], torch.ones(1, 2))


def test_training_on_the_second_device():
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
    x, labels = torch.randn(8, 1, 8, 8), torch.randint(3, (8,))
    results = {}
    for device in ("cpu", "crisol:0", "crisol:1"):
        torch.manual_seed(0)
        for module in model:
            if hasattr(module, "reset_parameters"):
                module.cpu().reset_parameters()
        model.to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        for _ in range(5):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
        results[device] = loss.item()
    assert results["crisol:0"] == pytest.approx(results["cpu"], rel=1e-4)
    assert results["crisol:1"] == pytest.approx(results["cpu"], rel=1e-4)


def test_a_model_on_both_devices():
    """The graph goes from one device to the other and back."""
    first, second = nn.Linear(3, 4).to("crisol:0"), nn.Linear(4, 2).to("crisol:1")
    x = torch.randn(5, 3)
    loss = second(first(x.to("crisol:0")).tanh().to("crisol:1")).square().sum()
    loss.backward()
    expected = second.cpu()(first.cpu()(x).tanh()).square().sum()
    assert_same(loss, expected)
    found = [p.grad.clone() for p in first.parameters()]
    first.zero_grad()
    expected.backward()
    assert_same(found, [p.grad for p in first.parameters()])


def test_threads_have_their_own_current_device():
    results, start = {}, threading.Barrier(4)

    def work(number):
        start.wait()
        for _ in range(20):
            torch_crisol.set_device(number % 2)
            x = torch.full((8, 8), 1.0 + number, device="crisol", requires_grad=True)
            (x @ x).sum().backward()
            results.setdefault(number, set()).add((x.grad.device.index, x.grad.sum().item()))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: {(number % 2, 2 * (1.0 + number) * 512)} for number in range(4)}
    assert torch_crisol.current_device() == 0


def test_streams_of_two_devices():
    first, second = torch.Stream(device="crisol:0"), torch.Stream(device="crisol:1")
    second.wait_stream(first)
    event = second.record_event()
    event.synchronize()
    assert event.query() and event.device.index == 1 and second.device_index == 1
    with second:
        assert torch.accelerator.current_stream() == second
        assert torch_crisol.current_device() == 1
    assert torch_crisol.current_device() == 0
    torch_crisol.synchronize(1)


def test_generators_of_two_devices():
    torch_crisol.manual_seed_all(5)
    first, second = (torch.rand(4, device=f"crisol:{number}") for number in (0, 1))
    assert_same(second, first.cpu())
    assert torch.Generator(device="crisol:1").device.index == 1
    states = torch_crisol.get_rng_state_all()
    draw = torch.rand(3, device="crisol:1")
    torch_crisol.set_rng_state_all(states)
    assert_same(torch.rand(3, device="crisol:1"), draw.cpu())


def test_files_keep_the_second_device():
    x = torch.arange(3.0, device="crisol:1")
    buffer = io.BytesIO()
    torch.save(x, buffer)
    for location, index in ((None, 1), ("crisol:0", 0), ({"crisol:1": "crisol:0"}, 0)):
        buffer.seek(0)
        loaded = torch.load(buffer, map_location=location)
        assert loaded.device.index == index
        assert_same(loaded, x.cpu())


def test_memory_of_two_devices_is_counted_apart():
    before = torch_crisol.memory_allocated(0)
    x = torch.empty(1 << 20, device="crisol:1")
    assert torch_crisol.memory_allocated(0) == before
    assert torch_crisol.memory_allocated(1) >= x.nbytes


def test_exchange_with_crisol():
    x = torch.ones(3, device="crisol:1")
    y = crisol.from_torch(x)
    assert y.device != crisol.device()
    y += 1
    assert x.tolist() == [2, 2, 2] and crisol.to_torch(y).device == x.device
    assert crisol.from_dlpack(x, device=crisol.device()).device == crisol.device()


def test_data_parallel_by_hand():
    """Replicas on both devices, and gradients that are added."""
    model = nn.Linear(3, 1, bias=False)
    replicas = [nn.Linear(3, 1, bias=False).to(f"crisol:{number}") for number in (0, 1)]
    x = torch.randn(6, 3)
    for number, replica in enumerate(replicas):
        replica.load_state_dict(model.state_dict())
        replica(x[3 * number : 3 * number + 3].to(f"crisol:{number}")).square().sum().backward()
    replicas[0].weight.grad += replicas[1].weight.grad.to("crisol:0")
    model(x).square().sum().backward()
    assert_same(replicas[0].weight.grad, model.weight.grad)
