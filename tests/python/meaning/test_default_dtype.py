"""set_default_dtype(): the dtype of what nothing else decides, in PyTorch's meaning."""

import threading

import crisol
import numpy
import pytest
from crisol import distributions, nn
from crisol.data import DataLoader
from crisol.nn import functional as F

FLOATS = ("float64", "float32", "float16", "bfloat16")


@pytest.fixture(params=FLOATS)
def default(request):
    chosen = getattr(crisol, request.param)
    crisol.set_default_dtype(chosen)
    yield chosen
    crisol.set_default_dtype(crisol.float32)


NEW = {
    "zeros": lambda: crisol.zeros(2, 3),
    "ones": lambda: crisol.ones((2,)),
    "empty": lambda: crisol.empty(2),
    "full": lambda: crisol.full((2,), 0.5),
    "eye": lambda: crisol.eye(3),
    "linspace": lambda: crisol.linspace(0, 1, 5),
    "logspace": lambda: crisol.logspace(0, 1, 5),
    "arange": lambda: crisol.arange(0.0, 2.0, 0.5),
    "range": lambda: crisol.range(0, 2),
    "tensor": lambda: crisol.tensor([1, 2.5]),
    "empty list": lambda: crisol.tensor([]),
    "number": lambda: crisol.tensor(0.1),
    "as_tensor": lambda: crisol.as_tensor([0.1]),
    "asarray": lambda: crisol.asarray([[0.1]]),
    "scalar_tensor": lambda: crisol.scalar_tensor(2),
    "Tensor of sizes": lambda: crisol.Tensor(2, 3),
    "Tensor of numbers": lambda: crisol.Tensor([1, 2]),
    "rand": lambda: crisol.rand(5),
    "randn": lambda: crisol.randn((5,)),
    "normal": lambda: crisol.normal(0.0, 1.0, (5,)),
    "bernoulli": lambda: crisol.bernoulli(0.5, (5,)),
    "hann_window": lambda: crisol.hann_window(4),
    "kaiser_window": lambda: crisol.kaiser_window(4),
    "fftfreq": lambda: crisol.fft.fftfreq(4),
    "mask": lambda: nn.Transformer.generate_square_subsequent_mask(3),
    "buffer": lambda: nn.BatchNorm1d(3).running_mean,
}
RESULTS = {
    "quotient": lambda x: x / x,
    "with a number": lambda x: x * 0.5,
    "number first": lambda x: 2.5 - x,
    "power": lambda x: x**0.5,
    "sqrt": lambda x: crisol.sqrt(x),
    "sigmoid": lambda x: x.sigmoid(),
    "where": lambda x: crisol.where(x > 1, 1.0, 0.0),
    "add": lambda x: crisol.add(x, x, alpha=0.5),
    "logsumexp": lambda x: crisol.logsumexp(x, 0),
    "digamma": lambda x: crisol.digamma(x),
    "ndtri": lambda x: crisol.special.ndtri(x),
    "xlogy": lambda x: crisol.special.xlogy(x, x),
    "cov": lambda x: crisol.cov(x),
    "gradient": lambda x: crisol.gradient(x)[0],
}
OF_FLOAT32 = {
    "quotient": lambda x: x / 3,
    "xlogy": lambda x: crisol.special.xlogy(2.5, x),
    "gammainc": lambda x: crisol.special.gammainc(x, 2.0),
    "zeta": lambda x: crisol.special.zeta(x + 1, 2.0),
    "normal": lambda x: distributions.Normal(x, 1.0).sample(),
    "rand_like": lambda x: crisol.rand_like(x),
    "softplus": lambda x: F.softplus(x),
    "dropout": lambda x: F.dropout(x, 0.3),
    "matrix_exp": lambda x: crisol.linalg.matrix_exp(x.reshape(1, 1, -1)[:, :, :1]),
    "clamp": lambda x: x.clamp(0.5, 2.0),
    "where": lambda x: crisol.where(x > 1, x, 0.0),
}


@pytest.mark.parametrize("name", NEW)
def test_new_tensors(default, name):
    assert NEW[name]().dtype is default


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_whole_numbers(default, name):
    assert RESULTS[name](crisol.tensor([3, 1, 2])).dtype is default


@pytest.mark.parametrize("name", OF_FLOAT32)
def test_a_tensor_with_fractions_decides(default, name):
    assert OF_FLOAT32[name](crisol.tensor([1.0, 2.0], dtype=crisol.float32)).dtype is crisol.float32


LAYERS = {
    "Linear": lambda: nn.Linear(2, 3),
    "Conv2d": lambda: nn.Conv2d(2, 3, 1),
    "Embedding": lambda: nn.Embedding(4, 3),
    "LayerNorm": lambda: nn.LayerNorm(3),
    "BatchNorm2d": lambda: nn.BatchNorm2d(3),
    "LSTM": lambda: nn.LSTM(2, 3),
    "GRUCell": lambda: nn.GRUCell(2, 3),
    "MultiheadAttention": lambda: nn.MultiheadAttention(4, 2, add_bias_kv=True),
    "Bilinear": lambda: nn.Bilinear(2, 2, 2),
    "EmbeddingBag": lambda: nn.EmbeddingBag(4, 3),
    "PReLU": lambda: nn.PReLU(),
    "TransformerEncoderLayer": lambda: nn.TransformerEncoderLayer(4, 2, 8),
    "weight_norm": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(2, 3)),
    "spectral_norm": lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(2, 3)),
    "orthogonal": lambda: nn.utils.parametrizations.orthogonal(nn.Linear(2, 3)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_parameters_and_buffers_of_layers(default, name):
    state = LAYERS[name]().state_dict()
    assert {x.dtype for key, x in state.items() if key != "num_batches_tracked"} == {default}


def test_a_net_is_trained_in_float64():
    crisol.set_default_dtype(crisol.float64)
    try:
        crisol.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 1))
        optimizer = crisol.optim.Adam(net.parameters(), 0.05)
        schedule = crisol.optim.lr_scheduler.CosineAnnealingLR(optimizer, 60)
        x = crisol.randn(32, 3)
        y = x.sum(1, keepdim=True)
        losses = []
        for _ in range(60):
            loss = F.mse_loss(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        assert loss.dtype is crisol.float64 and all(p.grad.dtype is crisol.float64 for p in net.parameters())
        assert losses[-1] < 0.2 * losses[0]
        assert repr(crisol.tensor([0.5])) == "tensor([0.5000])"
        assert "dtype=" in repr(crisol.tensor([0.5], dtype=crisol.float32))
    finally:
        crisol.set_default_dtype(crisol.float32)


def test_the_same_op_before_and_after():
    whole = crisol.tensor([1, 2, 3])
    assert (whole / 2).dtype is crisol.float32
    crisol.set_default_dtype(crisol.float64)
    try:
        assert (whole / 3).tolist() == [1 / 3, 2 / 3, 1.0] and (whole / 3).dtype is crisol.float64
        assert crisol.result_type(whole, 0.5) is crisol.float64 and crisol.result_type(whole, 2) is crisol.int64
    finally:
        crisol.set_default_dtype(crisol.float32)
    assert (whole / 2).dtype is crisol.float32


def test_digits_of_float64():
    crisol.set_default_dtype(crisol.float64)
    try:
        assert crisol.tensor(0.1).item() == 0.1 and crisol.full((1,), 0.1).tolist() == [0.1]
        numpy.testing.assert_allclose(crisol.hann_window(8), 0.5 - 0.5 * numpy.cos(numpy.arange(8) * numpy.pi / 4),
                                      rtol=1e-15, atol=1e-16)  # fmt: skip
        numpy.testing.assert_allclose(crisol.logspace(0, 1, 7), numpy.logspace(0, 1, 7), rtol=1e-14)
        assert crisol.add(crisol.tensor([1.0]), 1.0, alpha=0.1).tolist() == [1.1]
    finally:
        crisol.set_default_dtype(crisol.float32)


def test_other_values_do_not_follow(default):
    assert crisol.tensor([1, 2]).dtype is crisol.int64 and crisol.arange(3).dtype is crisol.int64
    assert crisol.tensor(numpy.ones(2)).dtype is crisol.float64
    assert crisol.ones(2, dtype=crisol.int64).float().dtype is crisol.float32
    assert crisol.randint(3, (2,)).dtype is crisol.int64 and crisol.randperm(3).dtype is crisol.int64


def test_batches_of_floats():
    assert next(iter(DataLoader([0.5, 1.5], batch_size=2))).dtype is crisol.float32
    crisol.set_default_dtype(crisol.float64)
    try:
        assert next(iter(DataLoader([0.1, 1.5], batch_size=2))).tolist() == [0.1, 1.5]
    finally:
        crisol.set_default_dtype(crisol.float32)


def test_uniform_numbers_of_two_bytes_are_below_one():
    for dtype in (crisol.float16, crisol.bfloat16):
        drawn = crisol.rand(200000, dtype=dtype)
        assert drawn.max().item() < 1 and drawn.min().item() >= 0
        assert abs(drawn.float().mean().item() - 0.5) < 0.01
        assert crisol.empty(200000, dtype=dtype).uniform_(-3.0, -1.0).max().item() < -1


def test_the_default_holds_for_all_threads():
    found = []
    crisol.set_default_dtype(crisol.float64)
    try:
        thread = threading.Thread(target=lambda: found.append(crisol.zeros(1).dtype))
        thread.start()
        thread.join()
    finally:
        crisol.set_default_dtype(crisol.float32)
    assert found == [crisol.float64]


def test_names_of_classes():
    for name in (crisol.DoubleTensor, "torch.DoubleTensor", "crisol.DoubleTensor"):
        crisol.set_default_tensor_type(name)
        try:
            assert crisol.get_default_dtype() is crisol.float64 and crisol.finfo().eps == 2.0**-52
        finally:
            crisol.set_default_tensor_type(crisol.FloatTensor)
    assert crisol.get_default_dtype() is crisol.float32


@pytest.mark.parametrize("wrong", [crisol.int64, crisol.bool, "float64", float])
def test_other_types_are_refused(wrong):
    with pytest.raises(TypeError, match="floating-point"):
        crisol.set_default_dtype(wrong)
    with pytest.raises(TypeError, match="floating-point"):
        crisol.set_default_tensor_type("crisol.LongTensor")
    assert crisol.get_default_dtype() is crisol.float32
