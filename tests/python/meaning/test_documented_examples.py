"""What the examples in PyTorch's documentation do: sizes that are tensors, results that lose their kind, import paths."""

import importlib

import crisol
import numpy as np
import pytest
from crisol import nn
from crisol.nn import functional as F
from crisol.utils.data import DataLoader, IterableDataset, get_worker_info


def test_a_size_may_be_a_tensor():
    n, one = crisol.tensor(3), crisol.tensor(1)
    x = crisol.arange(6)
    rows = crisol.zeros(n), crisol.zeros(crisol.tensor([3])), crisol.full((n,), 1), crisol.as_strided(x, (n,), (1,))
    assert all(made.shape == (3,) for made in rows)
    pairs = crisol.zeros(n, 2), crisol.zeros([n, 2]), x.reshape(n, 2), x.view((n, -1)), crisol.ones(2).new_zeros(n, 2)
    assert all(made.shape == (3, 2) for made in pairs)
    assert crisol.randint(1, 5, size=(n,)).shape == (3,) and crisol.ones(2, 1).expand(2, n).shape == (2, 3)
    assert crisol.ones(2).repeat(n, 1).shape == (3, 2) and x.unflatten(0, (n, 2)).shape == (3, 2)
    assert crisol.ones(2, 3).sum(one).tolist() == [3, 3] and crisol.arange(5).roll(n).tolist() == [2, 3, 4, 0, 1]
    assert crisol.bincount(one.reshape(1), minlength=n).tolist() == [0, 1, 0]
    assert F.interpolate(crisol.ones(1, 1, 4), size=n).shape == (1, 1, 3)
    for wrong in (crisol.tensor(3.0), crisol.tensor([3, 2]), (crisol.tensor([3, 2]),), ("3",), True):
        with pytest.raises(TypeError, match="shape|sizes"):
            crisol.zeros(wrong)


def test_narrow_counts_from_the_end():
    x = crisol.arange(5)
    assert x.narrow(0, -2, 2).tolist() == [3, 4] and crisol.narrow(x, 0, crisol.tensor(-5), 1).tolist() == [0]
    for start, length in ((-6, 1), (-2, 3), (6, 0)):
        with pytest.raises(crisol.InvalidArgumentError, match=rf"\[narrow\] start {start}, length {length}"):
            x.narrow(0, start, length)
    w = crisol.ones(4, requires_grad=True)
    (w.narrow(-1, -3, 2) * 2).sum().backward()
    assert w.grad.tolist() == [0, 2, 2, 0]


def test_asarray_passes_a_gradient_on_where_it_is_asked_to():
    w = crisol.tensor([1.0, 2.0], requires_grad=True)
    b = w + 2
    assert not crisol.asarray(b).requires_grad and crisol.asarray([1.0], requires_grad=True).requires_grad
    crisol.asarray(b, requires_grad=True).sum().backward()
    assert w.grad.tolist() == [1, 1]


@pytest.mark.parametrize("call", [
    "div_(2)", "true_divide_(2)", "clamp_(0.5)", "clamp_min_(0.5)", "clip_(max=0.5)", "deg2rad_()", "digamma_()",
    "erfinv_()", "float_power_(2)", "logit_()", "rad2deg_()", "sinc_()", "xlogy_(2)", "exponential_()", "cauchy_()", "log_normal_()",
    "div_(crisol.tensor(2))", "cumsum_(0, dtype=crisol.float32)",
])  # fmt: skip
def test_a_whole_tensor_takes_no_floats_in_place(call):
    x = crisol.tensor([1, 2, 3])
    with pytest.raises(crisol.InvalidArgumentError, match=rf"\[{call.split('(')[0]}\] the result is float"):
        eval(f"x.{call}", {"x": x, "crisol": crisol})
    assert x.tolist() == [1, 2, 3]


def test_out_takes_no_result_of_another_kind():
    whole = crisol.tensor([7, 7])
    with pytest.raises(crisol.InvalidArgumentError, match=r"\[out\] the result is float32"):
        crisol.exp(crisol.zeros(2), out=whole)
    assert whole.tolist() == [7, 7]
    assert crisol.add(crisol.tensor([1, 2]), 1, out=crisol.zeros(2)).tolist() == [2, 3]


def test_whole_numbers_have_no_negative_powers():
    x = crisol.tensor([1, 2])
    for power in (lambda: x**-1, lambda: crisol.pow(x, -2), lambda: x.pow_(-1)):
        with pytest.raises(crisol.InvalidArgumentError, match="whole numbers have no power -"):
            power()
    assert x.tolist() == [1, 2] and (x**0).tolist() == [1, 1] and (x**-1.0).tolist() == [1, 0.5]
    assert (x.float() ** -1).tolist() == [1, 0.5] and crisol.pow(x, crisol.tensor([-1, -1])).tolist() == [1, 0]


def test_random_fills_all_of_int64():
    drawn = crisol.empty(1000, dtype=crisol.int64).random_().numpy()
    assert drawn.min() >= 0 and drawn.max() > 2**62 and len(np.unique(drawn)) == 1000
    assert len(np.unique(drawn % 2**32)) > 990


def test_threshold_of_whole_numbers():
    x = crisol.arange(-2, 3)
    for found in (F.threshold(x, 0.1, 20.0), nn.Threshold(0.1, 20)(x), crisol.threshold(x, 0.1, 20.5)):
        assert found.dtype is crisol.int64 and found.tolist() == [20, 20, 20, 1, 2]


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_unpooling(axes):
    sizes = (2, 3, 7, 6, 5)[: 2 + axes]
    x = np.random.default_rng(axes).normal(size=sizes).astype(np.float32)
    pool = getattr(nn, f"MaxPool{axes}d")(2, stride=2, return_indices=True)
    unpool = getattr(nn, f"MaxUnpool{axes}d")(2, stride=2)
    pooled, places = pool(crisol.asarray(x))
    right = np.zeros((6, int(np.prod(sizes[2:]))), np.float32)
    np.put_along_axis(right, places.numpy().reshape(6, -1), pooled.numpy().reshape(6, -1), axis=1)
    back = unpool(pooled, places, output_size=crisol.asarray(x).size())
    np.testing.assert_array_equal(back.numpy(), right.reshape(sizes))
    assert unpool(pooled, places % 8).shape == (2, 3, *(n // 2 * 2 for n in sizes[2:]))
    two, none = (2,) * axes, (0,) * axes
    assert repr(unpool) == f"MaxUnpool{axes}d(kernel_size={two}, stride={two}, padding={none})"
    with pytest.raises(crisol.InvalidArgumentError, match=rf"\[max_unpool{axes}d\] output_size is"):
        unpool(pooled, places, output_size=[n + 2 for n in sizes[2:]])


def test_a_parameter_leaves_the_tensor_it_is_made_of_as_it_is():
    x = crisol.ones(2, 2)
    p = nn.Parameter(x)
    frozen = nn.Parameter(p, requires_grad=False)
    with crisol.no_grad():
        p.add_(1)
    assert x.tolist() == frozen.tolist() == [[2, 2], [2, 2]]  # One memory.
    assert p.requires_grad and not x.requires_grad and not frozen.requires_grad
    made = nn.Parameter(p * 2)
    assert made.is_leaf and made.requires_grad and made.tolist() == [[4, 4], [4, 4]]
    variable = crisol.autograd.Variable(x, requires_grad=True)
    assert variable.requires_grad and not x.requires_grad and not crisol.autograd.Variable(p).requires_grad
    table = nn.Embedding.from_pretrained(x, freeze=False)
    assert table.weight.requires_grad and not x.requires_grad
    layer = nn.Linear(2, 2)
    layer.weight = nn.Parameter(x)
    layer(crisol.ones(1, 2)).sum().backward()
    assert x.grad is None and layer.weight.grad.tolist() == [[1, 1], [1, 1]]


def test_what_layers_print():
    assert repr(nn.EmbeddingBag(10, 3, mode="sum", padding_idx=2)) == "EmbeddingBag(10, 3, mode='sum', padding_idx=2)"
    assert repr(nn.EmbeddingBag(4, 2, max_norm=1.0)) == "EmbeddingBag(4, 2, max_norm=1.0, mode='mean')"
    last = "(out_proj): NonDynamicallyQuantizableLinear(in_features=4, out_features=4, bias=True)"
    assert last in repr(nn.MultiheadAttention(4, 2)) and last in repr(nn.TransformerEncoderLayer(4, 2, 8))
    assert crisol.typename(nn.Linear) == "crisol.nn.Linear" and crisol.typename(3) == "builtins.int"


def test_diagonals_that_are_filled():
    tall = crisol.zeros(7, 3, dtype=crisol.int64).fill_diagonal_(5, wrap=True)
    assert crisol.nonzero(tall).tolist() == [[0, 0], [1, 1], [2, 2], [4, 0], [5, 1], [6, 2]]
    assert crisol.nonzero(crisol.zeros(7, 3).fill_diagonal_(5)).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert crisol.nonzero(crisol.zeros(2, 4).fill_diagonal_(5, wrap=True)).tolist() == [[0, 0], [1, 1]]
    assert crisol.nonzero(crisol.zeros(2, 2, 2).fill_diagonal_(5)).tolist() == [[0, 0, 0], [1, 1, 1]]
    for shape in ((3,), (2, 3, 2)):
        with pytest.raises(crisol.InvalidArgumentError, match=r"\[fill_diagonal_\] takes a matrix"):
            crisol.zeros(shape).fill_diagonal_(1)


@pytest.mark.parametrize("path, name", [
    ("autograd.function", "Function"), ("autograd.gradcheck", "gradcheck"), ("backends.cudnn", "benchmark"),
    ("cuda.amp", "autocast"), ("distributions.categorical", "Categorical"), ("distributions.kl", "kl_divergence"),
    ("distributions.normal", "Normal"), ("nn.attention", "SDPBackend"), ("nn.modules.conv", "Conv2d"),
    ("nn.modules.linear", "NonDynamicallyQuantizableLinear"), ("nn.parallel", "DataParallel"),
    ("nn.utils.clip_grad", "clip_grad_norm_"), ("nn.utils.convert_parameters", "parameters_to_vector"),
    ("nn.utils.stateless", "functional_call"), ("nn.utils.weight_norm", "weight_norm"), ("optim.adam", "Adam"),
    ("optim.optimizer", "Optimizer"), ("utils.data.dataloader", "DataLoader"),
    ("utils.data._utils.collate", "default_collate"),
])  # fmt: skip
def test_paths_of_pytorchs_files(path, name):
    assert hasattr(importlib.import_module(f"crisol.{path}"), name)
    module = crisol
    for part in path.split("."):  # What `import torch.a.b` makes readable as torch.a.b.
        module = getattr(module, part)
    assert callable(nn.utils.weight_norm)


def test_the_accelerator():
    from crisol import accelerator

    found = accelerator.current_accelerator()
    assert accelerator.is_available() == (found is not None) == (accelerator.device_count() > 0)
    assert found is None or found.type == "gpu"


def test_events_streams_and_memory():
    from crisol import cuda

    device = crisol.device()
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    with pytest.raises(RuntimeError, match="both events must be recorded"):
        start.elapsed_time(end)
    start.record()
    with cuda.stream(cuda.Stream()):
        y = crisol.ones(64, 64) @ crisol.ones(64, 64)
    assert cuda.current_stream().record_event(end) is end and start.elapsed_time(end) > 0 and y[0, 0].item() == 64
    properties = cuda.get_device_properties(device)
    free, total = cuda.mem_get_info(device)
    assert properties.name == device.name and total == properties.total_memory and 0 < free < total
    assert cuda.memory_stats(device)["allocated_bytes.all.current"] >= y.nbytes
    assert "allocated_bytes.all.peak" in cuda.memory_summary(device) and issubclass(cuda.OutOfMemoryError, RuntimeError)
    with cuda.device(device), cuda.device(-1):
        assert crisol.ones(1).device == device
    count = cuda.device_count()
    with pytest.raises(crisol.InvalidArgumentError, match=f"there is no GPU {count}: there are {count}"):
        cuda.set_device(count)


def test_attention_in_a_context_that_names_a_kernel():
    from crisol.nn.attention import SDPBackend, sdpa_kernel

    q = crisol.randn(1, 2, 3, 4)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        inside = F.scaled_dot_product_attention(q, q, q)
    assert inside.tolist() == F.scaled_dot_product_attention(q, q, q).tolist()


class _Counted(IterableDataset):
    def __init__(self, start, end):
        self.start, self.end = start, end

    def __iter__(self):
        worker = get_worker_info()
        if worker is not None and worker.dataset.end == 100:  # Not divided by worker_init_fn.
            return iter(range(worker.id, 6, worker.num_workers))
        return iter(range(self.start, self.end))


def _divide(worker_id):
    worker = get_worker_info()
    assert worker.id == worker_id
    dataset, size = worker.dataset, 4
    start, end = dataset.start, dataset.end
    dataset.start, dataset.end = start + worker_id * size, min(start + (worker_id + 1) * size, end)


def test_each_worker_has_its_part_of_an_iterable_data_set():
    dataset = _Counted(3, 10)
    loader = DataLoader(dataset, batch_size=2, num_workers=2, worker_init_fn=_divide)
    for _ in range(2):
        assert [batch.tolist() for batch in loader] == [[3, 4], [7, 8], [5, 6], [9]]
    assert (dataset.start, dataset.end) == (3, 10) and get_worker_info() is None
    whole = DataLoader(_Counted(0, 100), batch_size=None, num_workers=2, worker_init_fn=lambda _: None)
    assert [int(item) for item in whole] == [0, 1, 2, 3, 4, 5]
    assert [b.tolist() for b in DataLoader(dataset, batch_size=4, num_workers=2)] == [[3, 4, 5, 6], [7, 8, 9]]
