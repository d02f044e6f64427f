"""autocast and GradScaler: PyTorch's lists, the semantics of scopes and of the scaler, and trainings in float16."""

import copy
import io
import pickle
import threading

import crisol
import numpy as np
import pytest
from crisol import nn, optim
from crisol.nn import functional as F
from numeric import array_of

HALF, SINGLE = crisol.float16, crisol.float32


def halves(*shape):
    return (crisol.rand(*shape) * 0.5 + 0.25).to(HALF)


def singles(*shape):
    return crisol.rand(*shape) * 0.5 + 0.25


LOWER = {
    "matmul": lambda: singles(3, 4) @ singles(4, 2),
    "mm": lambda: crisol.mm(singles(3, 4), singles(4, 2)),
    "mv": lambda: crisol.mv(singles(3, 4), singles(4)),
    "bmm": lambda: crisol.bmm(singles(2, 3, 4), singles(2, 4, 2)),
    "addmm": lambda: crisol.addmm(singles(3, 2), singles(3, 4), singles(4, 2)),
    "addmv": lambda: crisol.addmv(singles(3), singles(3, 4), singles(4)),
    "addr": lambda: crisol.addr(singles(3, 2), singles(3), singles(2)),
    "baddbmm": lambda: crisol.baddbmm(singles(2, 3, 2), singles(2, 3, 4), singles(2, 4, 2)),
    "addbmm": lambda: crisol.addbmm(singles(3, 2), singles(2, 3, 4), singles(2, 4, 2)),
    "chain_matmul": lambda: crisol.chain_matmul(singles(3, 4), singles(4, 2), singles(2, 5)),
    "multi_dot": lambda: crisol.linalg.multi_dot([singles(3, 4), singles(4, 2), singles(2, 5)]),
    "einsum": lambda: crisol.einsum("ij,jk->ik", singles(3, 4), singles(4, 2)),
    "linear": lambda: F.linear(singles(3, 4), singles(2, 4), singles(2)),
    "QuantizedLinear": lambda: crisol.quantize(nn.Linear(4, 2))(singles(3, 4)),
    "vecdot": lambda: crisol.linalg.vecdot(singles(3, 4), singles(3, 4)),
    "conv1d": lambda: F.conv1d(singles(1, 2, 9), singles(3, 2, 3)),
    "conv2d": lambda: F.conv2d(singles(1, 2, 9, 8), singles(3, 2, 3, 3), singles(3)),
    "conv3d": lambda: F.conv3d(singles(1, 2, 5, 6, 7), singles(3, 2, 3, 3, 3)),
    "conv_transpose1d": lambda: F.conv_transpose1d(singles(1, 2, 9), singles(2, 3, 3)),
    "conv_transpose2d": lambda: F.conv_transpose2d(singles(1, 2, 9, 8), singles(2, 3, 3, 3)),
    "conv_transpose3d": lambda: F.conv_transpose3d(singles(1, 2, 5, 6, 7), singles(2, 3, 3, 3, 3)),
    "prelu": lambda: F.prelu(singles(3, 4), singles(1)),
    "attention": lambda: F.scaled_dot_product_attention(*[singles(1, 2, 5, 4)] * 3),
    "LSTM": lambda: nn.LSTM(3, 4)(singles(5, 2, 3))[0],
    "GRU": lambda: nn.GRU(3, 4)(singles(5, 2, 3))[0],
    "RNN": lambda: nn.RNN(3, 4)(singles(5, 2, 3))[0],
    "LSTMCell": lambda: nn.LSTMCell(3, 4)(singles(2, 3))[1],
    "GRUCell": lambda: nn.GRUCell(3, 4)(singles(2, 3)),
    "RNNCell": lambda: nn.RNNCell(3, 4)(singles(2, 3)),
    "MultiheadAttention": lambda: nn.MultiheadAttention(4, 2)(*[singles(5, 2, 4)] * 3, need_weights=False)[0],
    "ReLU after Linear": lambda: nn.Sequential(nn.Linear(4, 3), nn.ReLU())(singles(2, 4)),
}

TARGET = crisol.asarray([1.0, -1.0, 1.0])
UPPER = {
    **{name: (lambda f=name: getattr(crisol, f)(halves(3, 4))) for name in (
        "acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal", "rsqrt", "sinh",
        "tan", "sum", "prod", "norm")},
    **{name: (lambda f=name: getattr(F, f)(halves(3, 4), halves(3, 4))) for name in (
        "binary_cross_entropy_with_logits", "kl_div", "l1_loss", "mse_loss", "poisson_nll_loss", "smooth_l1_loss",
        "huber_loss", "cosine_similarity")},
    **{name: (lambda f=name: getattr(F, f)(halves(3), TARGET)) for name in ("hinge_embedding_loss", "soft_margin_loss")},
    "pow": lambda: halves(3) ** 3,
    "rpow": lambda: 2 ** halves(3),
    "rtruediv": lambda: 2 / halves(3),
    "cumsum": lambda: crisol.cumsum(halves(3, 4), 1),
    "cumprod": lambda: crisol.cumprod(halves(3, 4), 1),
    "logsumexp": lambda: crisol.logsumexp(halves(3, 4), 1),
    "softmax": lambda: F.softmax(halves(3, 4), 1),
    "softmin": lambda: F.softmin(halves(3, 4), 1),
    "log_softmax": lambda: F.log_softmax(halves(3, 4), 1),
    "softplus": lambda: F.softplus(halves(3, 4)),
    "layer_norm": lambda: F.layer_norm(halves(3, 4), (4,)),
    "group_norm": lambda: F.group_norm(halves(3, 4), 2),
    "rms_norm": lambda: F.rms_norm(halves(3, 4), (4,)),
    "normalize": lambda: F.normalize(halves(3, 4)),
    "cdist": lambda: crisol.cdist(halves(3, 4), halves(2, 4)),
    "dist": lambda: crisol.dist(halves(3, 4), halves(3, 4)),
    "pdist": lambda: F.pdist(halves(3, 4)),
    "renorm": lambda: crisol.renorm(halves(3, 4), 2, 0, 1.0),
    "cross_entropy": lambda: F.cross_entropy(halves(3, 4), crisol.asarray([0, 1, 2])),
    "cross_entropy of probabilities": lambda: F.cross_entropy(halves(3, 4), F.softmax(halves(3, 4), 1)),
    "nll_loss": lambda: F.nll_loss(halves(3, 4), crisol.asarray([0, 1, 2])),
    "cosine_embedding_loss": lambda: F.cosine_embedding_loss(halves(3, 4), halves(3, 4), TARGET),
    "margin_ranking_loss": lambda: F.margin_ranking_loss(halves(3), halves(3), TARGET.to(HALF)),
    "triplet_margin_loss": lambda: F.triplet_margin_loss(halves(3, 4), halves(3, 4), halves(3, 4)),
    "multi_margin_loss": lambda: F.multi_margin_loss(halves(3, 4), crisol.asarray([0, 1, 2])),
    "multilabel_margin_loss": lambda: F.multilabel_margin_loss(halves(1, 4), crisol.asarray([[3, 0, -1, 1]])),
    "interpolate": lambda: F.interpolate(halves(1, 2, 3, 3), scale_factor=2),
    "CrossEntropyLoss": lambda: nn.CrossEntropyLoss()(halves(3, 4), crisol.asarray([0, 1, 2])),
}  # fmt: skip

WIDEST = {
    "cat": lambda a, b: crisol.cat([a, b]),
    "stack": lambda a, b: crisol.stack([a, b]),
    "tensordot": lambda a, b: crisol.tensordot(a, b, 1),
    "atan2": crisol.atan2,
    "addcmul": lambda a, b: crisol.addcmul(a, b, b),
    "addcdiv": lambda a, b: crisol.addcdiv(a, b, b),
    "cross": lambda a, b: crisol.linalg.cross(a, b),
    "dot": lambda a, b: crisol.dot(a[0], b[0]),
    "bilinear": lambda a, b: F.bilinear(a, b, singles(2, 3, 3)),
    "grid_sample": lambda a, b: F.grid_sample(a.reshape(1, 1, 3, 3), b[:, :2].reshape(1, 1, 3, 2)),
    "index_copy": lambda a, b: crisol.index_copy(a, 0, crisol.asarray([0, 1, 2]), b),
    "scatter_add": lambda a, b: crisol.scatter_add(a, 0, crisol.zeros(3, 3, dtype=crisol.int64), b),
}


@pytest.mark.parametrize("name", LOWER)
def test_lower_precision(name):
    with crisol.autocast("cuda"):
        assert LOWER[name]().dtype == HALF
    assert LOWER[name]().dtype == SINGLE


@pytest.mark.parametrize("name", UPPER)
def test_float32(name):
    with crisol.autocast("cuda", dtype=HALF):
        assert UPPER[name]().dtype == SINGLE


@pytest.mark.parametrize("name", WIDEST)
def test_widest_type(name):
    with crisol.autocast("cuda"):
        assert WIDEST[name](halves(3, 3), singles(3, 3)).dtype == SINGLE


def test_a_given_dtype_is_the_results():
    with crisol.autocast("cuda"):
        for f in (F.softmax, F.log_softmax, F.softmin, crisol.special.softmax, crisol.cumsum, crisol.sum):
            assert f(singles(3, 4), 1, dtype=HALF).dtype == HALF


def test_types_of_other_functions_stay():
    with crisol.autocast("cuda"):
        for x in (halves(1, 2, 4, 4), singles(1, 2, 4, 4)):
            for f in (F.relu, crisol.tanh, lambda x: x + x, lambda x: F.max_pool2d(x, 2), lambda x: crisol.mean(x)):
                assert f(x).dtype == x.dtype
        x = halves(3, 3)
        for f in (crisol.nansum, crisol.nanmean, crisol.logit, crisol.special.entr):
            assert f(x).dtype == HALF
        for y in (crisol.frexp(x)[0], crisol.xlogy(x, x), crisol.special.xlog1py(x, x)):
            assert y.dtype == HALF
        assert nn.BatchNorm2d(2)(halves(3, 2, 4, 4)).dtype == HALF
        assert nn.Embedding(3, 4)(crisol.asarray([1])).dtype == SINGLE
        assert crisol.asarray([1, 2, 3]).sum().dtype == crisol.int64


@pytest.mark.parametrize("layer", [nn.RNN, nn.GRU, nn.LSTM])
def test_states_of_recurrent_layers_may_have_another_type(layer):
    net = layer(3, 4, num_layers=2)
    with crisol.autocast("cuda"):
        _, state = net(singles(5, 2, 3))
        y, state = net(singles(5, 2, 3), state)
    assert y.dtype == HALF
    for part in state if isinstance(state, tuple) else (state,):
        assert part.dtype == HALF


def test_binary_cross_entropy_is_refused():
    with crisol.autocast("cuda"), pytest.raises(crisol.Error, match="binary_cross_entropy_with_logits"):
        nn.BCELoss()(halves(3), halves(3))
    nn.BCELoss()(singles(3), singles(3))
    with crisol.autocast("cuda"), crisol.autocast("cuda", enabled=False):
        nn.BCELoss()(singles(3), singles(3))


def test_scopes():
    assert not crisol.is_autocast_enabled()
    with crisol.amp.autocast("cuda", dtype=HALF, cache_enabled=False):
        assert crisol.is_autocast_enabled() and not crisol.is_autocast_cache_enabled()
        assert crisol.get_autocast_dtype("cuda") == HALF
        found = []
        thread = threading.Thread(target=lambda: found.append(crisol.is_autocast_enabled()))
        thread.start()
        thread.join()
        assert found == [False]
        with crisol.autocast("cuda", enabled=False):
            assert not crisol.is_autocast_enabled()
            with crisol.autocast("cuda"):
                assert (singles(2, 2) @ singles(2, 2)).dtype == HALF
            assert (singles(2, 2) @ singles(2, 2)).dtype == SINGLE
        assert (singles(2, 2) @ singles(2, 2)).dtype == HALF
        with pytest.raises(ZeroDivisionError), crisol.autocast("cuda", enabled=False):
            1 / 0
        assert crisol.is_autocast_enabled()
    assert not crisol.is_autocast_enabled() and crisol.is_autocast_cache_enabled()
    with crisol.cuda.amp.autocast(False):
        assert not crisol.is_autocast_enabled()
    with crisol.cuda.amp.autocast():
        assert crisol.is_autocast_enabled()
    with crisol.autocast("cuda"):
        for dtype in (SINGLE, crisol.float64):
            with pytest.warns(UserWarning, match="float16 and bfloat16"), crisol.autocast("cuda", dtype=dtype):
                assert not crisol.is_autocast_enabled() and (singles(2, 2) @ singles(2, 2)).dtype == SINGLE
    with pytest.raises(crisol.Error, match="Autocast"):
        crisol.autocast("cuda", dtype=crisol.int32)


def test_decorator():
    @crisol.autocast("cuda")
    def product(x):
        return x @ x

    @crisol.autocast("cuda")
    def steps():
        for _ in range(2):
            yield crisol.is_autocast_enabled()

    assert product(singles(2, 2)).dtype == HALF
    assert not crisol.is_autocast_enabled()
    for enabled in steps():
        assert enabled and not crisol.is_autocast_enabled()


def test_custom_functions():
    class Scaled(crisol.autograd.Function):
        @staticmethod
        @crisol.amp.custom_fwd(device_type="cuda", cast_inputs=SINGLE)
        def forward(ctx, x):
            assert not crisol.is_autocast_enabled()
            ctx.dtype = x.dtype
            return x @ x

        @staticmethod
        @crisol.amp.custom_bwd(device_type="cuda")
        def backward(ctx, dy):
            assert not crisol.is_autocast_enabled() and ctx.dtype == SINGLE
            return dy

    class Plain(crisol.autograd.Function):
        @staticmethod
        @crisol.amp.custom_fwd
        def forward(ctx, x):
            assert crisol.is_autocast_enabled()
            return x * 2

        @staticmethod
        @crisol.amp.custom_bwd
        def backward(ctx, dy):
            assert crisol.is_autocast_enabled() and crisol.get_autocast_dtype() == HALF
            return dy * 2

    x = halves(3, 3).requires_grad_()
    with crisol.autocast("cuda"):
        y = Scaled.apply(x)
        z = Plain.apply(x)
        assert y.dtype == SINGLE
    (y.sum() + z.float().sum()).backward()
    assert x.grad.dtype == HALF


def gradients(net, x, target, enabled):
    net.zero_grad()
    with crisol.autocast("cuda", enabled=enabled):
        loss = F.mse_loss(net(x), target)
    assert loss.dtype == SINGLE
    (loss * 1024).backward()
    assert all(p.grad.dtype == SINGLE for p in net.parameters())
    return [p.grad.numpy() / 1024 for p in net.parameters()]


def test_gradients_are_those_of_float32_up_to_rounding():
    crisol.manual_seed(2)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 49, 5))
    x, target = crisol.randn(4, 3, 7, 7), crisol.randn(4, 5)
    for half, single in zip(gradients(net, x, target, True), gradients(net, x, target, False)):
        assert np.abs(half - single).max() < 2e-2 * max(np.abs(single).max(), 1e-2)


def test_two_losses_share_parameters():
    net = nn.Linear(3, 2)
    with crisol.autocast("cuda"):
        one, two = net(singles(4, 3)).sum(), net(singles(4, 3)).sum()
    one.backward()
    two.backward()
    assert net.weight.grad is not None


def settings(name):
    return {"SGD": {"momentum": 0.9}, "RMSprop": {"momentum": 0.9}}.get(name, {})


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Lion", "Adagrad", "NAdam"])
def test_scaler_skips_steps_with_overflow(name):
    crisol.manual_seed(3)
    net = nn.Linear(4, 3)
    alone = copy.deepcopy(net)
    optimizers = [getattr(optim, name)(n.parameters(), lr=0.1, **settings(name)) for n in (net, alone)]
    scaler = crisol.amp.GradScaler("cuda", init_scale=256.0, growth_interval=3)
    scales = []
    for factor in (1.0, 2.0, float("inf"), float("nan"), 1.0, 1.0, 1.0):
        x = singles(2, 4)
        for n, optimizer in zip((net, alone), optimizers):
            optimizer.zero_grad()
            loss = n(x).sum() * factor
            if n is net:
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                scales.append(scaler.get_scale())
            elif np.isfinite(factor):
                loss.backward()
                optimizer.step()
        for p, q in zip(net.parameters(), alone.parameters()):
            assert crisol.equal(p, q)
    assert scales == [256.0, 256.0, 128.0, 64.0, 64.0, 64.0, 128.0]
    states = [optimizer.state_dict()["state"] for optimizer in optimizers]
    for mine, other in zip(states[0].values(), states[1].values()):
        for key in mine:
            assert np.array_equal(array_of(mine[key]), array_of(other[key]), equal_nan=True)


def test_scaler_clips_and_refuses_wrong_orders():
    net = nn.Linear(4, 3)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    scaler = crisol.amp.GradScaler()
    scaler.scale(net(singles(2, 4)).sum()).backward()
    scaler.unscale_(optimizer)
    assert float(nn.utils.clip_grad_norm_(net.parameters(), 1.0)) < 100
    with pytest.raises(crisol.Error, match="already"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(crisol.Error, match="already"):
        scaler.step(optimizer)
    scaler.update()
    with pytest.raises(crisol.Error, match="update"):
        scaler.update()
    scaler.update(128.0)
    assert scaler.get_scale() == 128.0
    with pytest.raises(RuntimeError, match="closure"):
        scaler.step(optimizer, closure=lambda: None)
    with pytest.raises(RuntimeError, match="closure"):
        scaler.step(optimizer, lambda: None)
    for wrong in ("text", 3.0, None):
        with pytest.raises(ValueError, match="tensor"):
            scaler.scale(wrong)


def test_scaler_state_is_pytorchs():
    scaler = crisol.amp.GradScaler(init_scale=8.0, growth_factor=3.0, backoff_factor=0.1, growth_interval=7)
    state = scaler.state_dict()
    assert state == {
        "scale": 8.0,
        "growth_factor": 3.0,
        "backoff_factor": 0.1,
        "growth_interval": 7,
        "_growth_tracker": 0,
    }
    other = crisol.amp.GradScaler()
    other.load_state_dict({**state, "_growth_tracker": 5})
    assert other.state_dict() == {**state, "_growth_tracker": 5}
    file = io.BytesIO()
    crisol.save(other.state_dict(), file)
    with pytest.raises(RuntimeError, match="empty"):
        scaler.load_state_dict({})
    for same in (pickle.loads(pickle.dumps(other)), copy.deepcopy(other)):
        assert same.state_dict() == other.state_dict()
    off = crisol.amp.GradScaler(enabled=False)
    assert not copy.deepcopy(off).is_enabled() and not pickle.loads(pickle.dumps(off)).is_enabled()
    x = singles(2)
    assert off.scale(x) is x and off.get_scale() == 1.0 and off.state_dict() == {} and not off.is_enabled()
    assert scaler.scale([x, (x,)])[1][0].tolist() == (x * 8).tolist()


def test_adam_of_half_parameters_keeps_small_steps():
    crisol.manual_seed(4)
    net = nn.Linear(4, 3).half()
    single = nn.Linear(4, 3)
    single.load_state_dict({name: t.float() for name, t in net.state_dict().items()})
    for n in (net, single):
        optimizer = optim.Adam(n.parameters(), lr=2e-5)
        x = crisol.ones(5, 4, dtype=n.weight.dtype)
        for _ in range(60):
            optimizer.zero_grad()
            n(x).sum().backward()
            optimizer.step()
    assert net.weight.dtype == HALF
    assert np.allclose(array_of(net.weight), array_of(single.weight), atol=5e-4)


@pytest.mark.parametrize("dtype", [SINGLE, HALF])
def test_training_reaches_the_same_loss(dtype):
    crisol.manual_seed(5)
    x = crisol.randn(256, 16)
    y = crisol.argmax(x @ crisol.randn(16, 4), axis=1)
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = optim.Adam(net.parameters(), lr=1e-2)
    scaler = crisol.amp.GradScaler(enabled=dtype == HALF)
    for _ in range(60):
        optimizer.zero_grad()
        with crisol.autocast("cuda", dtype=HALF, enabled=dtype == HALF):
            loss = F.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    assert loss.item() < 0.15
