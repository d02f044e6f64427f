"""What programs expect of any accelerator: torch.accelerator, streams, the profiler, types, storages."""

import json

import pytest
import torch
import torch_crisol
from compare import DEVICE, assert_same
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode


def test_accelerator_tells_of_memory():
    before = torch.accelerator.memory_allocated()
    x = torch.empty(1 << 20, device=DEVICE)
    assert torch.accelerator.memory_allocated() - before >= 4 << 20
    assert torch.accelerator.max_memory_allocated() >= torch.accelerator.memory_allocated()
    assert torch.accelerator.memory_reserved() >= torch.accelerator.memory_allocated()
    free, total = torch.accelerator.get_memory_info()
    assert 0 <= free <= total == torch_crisol.get_device_properties().total_memory
    del x
    torch.accelerator.empty_cache()
    torch.accelerator.reset_peak_memory_stats()
    assert torch.accelerator.max_memory_allocated() <= before + 1024


def test_accelerator_tells_of_types():
    types = torch.accelerator.get_device_capability(DEVICE)["supported_dtypes"]
    assert {torch.float32, torch.bfloat16, torch.int8, torch.bool, torch.complex64, torch.float8_e4m3fn} <= types
    assert torch.qint8 not in types


def test_streams_are_told_apart():
    first, second = torch.Stream(device=DEVICE), torch.Stream(device=DEVICE)
    usual = torch_crisol.default_stream()
    assert len({stream.stream_id for stream in (first, second, usual)}) == 3
    assert torch_crisol.current_stream() == usual
    with first:
        assert torch_crisol.current_stream() == first
        with torch_crisol.stream(second):
            assert torch.accelerator.current_stream() == second
        x = torch.ones(3, device=DEVICE) + 1
    assert torch_crisol.current_stream() == usual
    with torch_crisol.stream(None):
        assert torch_crisol.current_stream() == usual
    torch.accelerator.set_stream(second)
    assert torch.accelerator.current_stream() == second
    torch.accelerator.set_stream(usual)
    second.wait_event(first.record_event())
    second.wait_stream(first)
    second.synchronize()
    while not second.query():
        pass
    assert x.tolist() == [2, 2, 2]
    assert "crisol" in repr(first)


def test_events_measure_only_if_they_were_asked():
    event = torch.Event(DEVICE)
    assert event.query() and event.event_id == 0
    with pytest.raises(ValueError, match="enable_timing=True"):
        event.elapsed_time(event)
    first, second = torch.Stream(device=DEVICE).record_event(), torch.Event(DEVICE)
    second.record()
    assert first.event_id != second.event_id != 0


@pytest.mark.parametrize("record", [{}, {"record_shapes": True}])
def test_profiler(record, tmp_path):
    model = nn.Linear(10, 10).to(DEVICE)
    with torch.autograd.profiler.profile(use_device=DEVICE, **record) as profile:
        with torch.profiler.record_function("my part"):
            loss = model(torch.ones(4, 10, device=DEVICE)).sum()
        loss.backward()
    names = [event.name for event in profile.function_events]
    assert "my part" in names and any("addmm" in name for name in names) and any("Backward" in name for name in names)
    assert "addmm" in profile.key_averages().table(sort_by="cpu_time_total")
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert torch._C._profiler.ProfilerActivity.CRISOL.name == "CRISOL"
    assert sum(event.device_time_total for event in profile.key_averages() if "addmm" in event.key) > 0


def test_the_new_profiler():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        torch.ones(3, device=DEVICE) + 1
    assert any(event.key == "aten::add" for event in profile.key_averages())


def test_names_of_types_and_methods():
    x = torch.empty(4, 4, device=DEVICE)
    assert x.type() == "torch.crisol.FloatTensor" and x.int().type() == "torch.crisol.IntTensor"
    assert torch.empty(2).crisol(torch.device(DEVICE)).is_crisol and torch.empty(2).crisol(0).is_crisol
    assert x.storage().is_crisol and x.storage().size() == 16 and x.untyped_storage().is_crisol
    assert torch.empty(2).storage().crisol().is_crisol
    packed = nn.utils.rnn.PackedSequence(torch.rand(5, 3), torch.tensor([1, 1, 1, 1, 1]))
    assert not packed.is_crisol and packed.crisol().is_crisol and packed.to(DEVICE).data.is_crisol
    with pytest.raises(RuntimeError, match="has already been set"):
        torch.utils.rename_privateuse1_backend("another")


def test_storages():
    storage = torch.UntypedStorage(4, device=torch.device(DEVICE))
    assert torch.serialization.location_tag(storage) == "crisol:0"
    moved = torch.serialization.default_restore_location(torch.ones(4, 4).storage(), "crisol:0")
    assert moved.is_crisol and moved.tolist() == [1.0] * 16
    pinned = torch.randn(10).pin_memory()
    part = torch.tensor(()).set_(pinned.untyped_storage()[8:], size=(5,), stride=(1,), storage_offset=0)
    assert part.is_pinned() and pinned[2:5].is_pinned() and part.data_ptr() == pinned.data_ptr() + 8
    for storage in (torch.randn(10).storage(), torch.randn(10).untyped_storage()):
        assert not storage.is_pinned(DEVICE) and storage.pin_memory(DEVICE).is_pinned(DEVICE)


def test_layouts():
    x = torch.empty(2, 3, 4, 5, device=DEVICE, memory_format=torch.channels_last)
    assert x.is_contiguous(memory_format=torch.channels_last)
    x, source = torch.randn(2, 2, 6), torch.randn(2, 2, 3)
    y = x.to(DEVICE)
    torch.abs(source, out=x[..., ::2])
    torch.abs(source.to(DEVICE), out=y[..., ::2])
    assert_same(y, x)


def test_fake_tensors():
    with FakeTensorMode():
        x, y = torch.empty(3, 3, device=DEVICE), torch.empty(3, 3, device="crisol:0")
        for z in (x + y, x @ y, nn.functional.softmax(x, 1)):
            assert z.device.type == DEVICE and z.shape == (3, 3)


def test_factories_without_tensors():
    for make in (torch.triu_indices, torch.tril_indices):
        x = make(3, 3, device=DEVICE)
        assert x.device.type == DEVICE
        assert_same(x, make(3, 3))
    assert torch.tensor((), device=DEVICE).shape == (0,)
    for make in (torch.hann_window, torch.randperm, torch.eye):
        assert make(5, device=DEVICE).device.type == DEVICE
    assert_same(torch.logspace(0, 1, 5, device=DEVICE), torch.logspace(0, 1, 5))


def test_attention_chooses_the_device():
    q, k, v = torch.rand(3, 2, 2, 16, 8, dtype=torch.float16, device=DEVICE).unbind()
    mask = torch.rand(2, 2, 16, 16, dtype=torch.float16, device=DEVICE)
    backends = torch.nn.attention.SDPBackend
    assert torch._fused_sdp_choice(q, k, v) == backends.OVERRIDEABLE.value
    assert torch._fused_sdp_choice(q, k, v, mask) == backends.MATH.value
    for settings in ({}, {"dropout_p": 0.1}, {"is_causal": True}, {"attn_mask": mask}):
        y = nn.functional.scaled_dot_product_attention(q, k, v, **settings)
        assert y.device.type == DEVICE and y.shape == q.shape


def test_attention_op_takes_a_mask():
    op = torch.ops.aten
    x = [torch.rand(2, 3, 7, 4) for _ in range(3)]
    dy, mask = torch.rand(2, 3, 7, 4), torch.rand(7, 7)
    mask[2] = -torch.inf  # This query sees no key.
    for causal in (False, True):
        ours = [t.to(DEVICE) for t in (*x, mask)]
        y, *rest = op._scaled_dot_product_fused_attention_overrideable(*ours, 0.0, causal)
        settings = {"philox_seed": rest[5], "philox_offset": rest[6], "dropout_p": 0.0, "is_causal": causal}
        gradients = op._scaled_dot_product_fused_attention_overrideable_backward(
            dy.to(DEVICE), *ours, [True] * 4, y, *rest[:5], **settings
        )
        theirs = [t.clone().requires_grad_() for t in (*x, mask)]
        added = theirs[3] + torch.full((7, 7), -torch.inf).triu(1) if causal else theirs[3]
        expected = nn.functional.scaled_dot_product_attention(*theirs[:3], attn_mask=added)
        expected.backward(dy)
        assert_same(y, expected.detach())
        for gradient, own in zip(gradients, theirs, strict=True):
            assert_same(gradient, own.grad)


def test_autocast():
    assert torch.get_autocast_dtype(DEVICE) == torch.float16
    x = torch.randn(3, 3, device=DEVICE)
    with torch.autocast(DEVICE, dtype=torch.float16):
        assert (x @ x).dtype == torch.float16
        assert x.softmax(0).dtype == torch.float32
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        assert torch.mm(x, x).dtype == torch.bfloat16
    with pytest.warns(UserWarning, match="target dtype"):
        with torch.autocast(DEVICE, dtype=torch.float64):
            pass


def test_compilers_know_the_device():
    from torch._dynamo.backends.registry import list_backends, lookup_backend
    from torch._dynamo.device_interface import get_interface_for_device

    assert "crisol" in list_backends(exclude_tags=())
    assert callable(lookup_backend("crisol"))
    interface = get_interface_for_device(DEVICE)
    assert interface.current_device() == 0 and interface.device_count() >= 1 and interface.is_available()


def test_custom_functions():
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x.view_as(x)

        @staticmethod
        def backward(context, dy):
            return dy * 0.5

    x = torch.randn(4, device=DEVICE, requires_grad=True)
    Half.apply(x).sum().backward()
    assert x.grad.tolist() == [0.5] * 4


def test_tests_of_pytorch_find_the_device():
    """PyTorch's test classes make a test for each device, and a program can choose this one."""
    from torch.testing._internal.common_device_type import get_desired_device_type_test_bases

    bases = get_desired_device_type_test_bases(only_for=["crisol"])
    assert len(bases) == 1


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda x: x.to_sparse(), "sparse"),
        (lambda x: torch.sparse.mm(torch.eye(3).to_sparse().to(DEVICE), x), "sparse"),
        (lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), "quantized"),
    ],
)
def test_kinds_of_tensors_that_the_device_does_not_have(make, what):
    with pytest.raises(NotImplementedError, match=f"crisol: aten::.* needs a {what} tensor, and there are none"):
        make(torch.eye(3, device=DEVICE))
