"""Writes in place while ops are recorded, gradients that a program keeps, and aliases of parameters and buffers."""

import gc

import crisol
import numpy as np
import pytest
from crisol import nn, optim
from numeric import array_of

W = np.array([[1.5, 2.5, 0.5], [0.75, 1.25, 2.0]], np.float32)

# By method: its arguments besides the tensor. `w` is a tensor that wants a gradient.
NUMBERS = {
    "celu_": (1.5,),
    "clamp_": (0.5, 1.0),
    "clip_": (0.5, 1.0),
    "elu_": (1.5,),
    "hardtanh_": (-1.0, 1.0),
    "leaky_relu_": (0.1,),
    "nan_to_num_": (0.0,),
    "threshold_": (0.75, 2.0),
}
BINARY = {"add_", "sub_", "subtract_", "mul_", "multiply_", "div_", "divide_", "true_divide_", "pow_", "copy_", "atan2_"}
BINARY |= {"arctan2_", "hypot_", "maximum_", "minimum_", "fmax_", "fmin_", "logaddexp_", "logaddexp2_", "prelu_", "xlogy_"}
BINARY |= {"fmod_", "remainder_", "copysign_"}
NOT_RECORDED = {"requires_grad_", "uniform_", "normal_", "bernoulli_", "random_", "digamma_", "detach_", "apply_"}
NOT_RECORDED |= {"t_", "transpose_", "squeeze_", "unsqueeze_", "exponential_", "log_normal_", "cauchy_", "geometric_", "share_memory_"}


def in_place_methods():
    return sorted(n for n in dir(crisol.Tensor) if n.endswith("_") and not n.startswith("_") and n not in NOT_RECORDED)


def arguments(name, w):
    if name in NUMBERS:
        return NUMBERS[name]
    if name in BINARY:
        return (w,)
    if name == "fill_":
        return (2.0,)
    if name == "lerp_":
        return (w, 0.25)
    if name in ("addcmul_", "addcdiv_"):
        return (w, w)
    if name == "masked_fill_":
        return (crisol.asarray(W > 1), w[0, 0])
    return ()


def gradients(write, out_of_place):
    a = crisol.asarray(W / 4 + 0.25).requires_grad_()
    w = crisol.asarray(W).requires_grad_()
    x = a * 1
    if out_of_place:
        x = write(x, w)
    else:
        result = write(x, w)
        assert result is x or result is None
    (x * crisol.asarray(W)).sum().backward()
    return [array_of(x)] + [None if t.grad is None else array_of(t.grad) for t in (a, w)]


def zeros_for_none(value):
    return np.zeros_like(W) if value is None else value


@pytest.mark.parametrize("name", in_place_methods())
def test_each_method_in_place_has_the_gradient_of_the_method(name):
    if not hasattr(crisol.Tensor, name[:-1]) and not hasattr(crisol, name[:-1]):
        pytest.skip("has a test of its own")
    function = getattr(crisol.Tensor, name[:-1], None) or getattr(crisol, name[:-1])
    try:
        wanted = gradients(lambda x, w: function(x, *arguments(name, w)), True)
    except (TypeError, crisol.Error):
        # Only whole numbers, or no such form for these arguments: the method refuses them as well.
        with pytest.raises((TypeError, crisol.Error)):
            gradients(lambda x, w: getattr(x, name)(*arguments(name, w)), False)
        return
    found = gradients(lambda x, w: getattr(x, name)(*arguments(name, w)), False)
    for one, other in zip(wanted, found):
        np.testing.assert_allclose(zeros_for_none(one), zeros_for_none(other), rtol=1e-5, atol=1e-6)


def set_item(key, value):
    def write(x, w):
        x[key] = value(w)

    return write


def augmented(name):
    def write(x, w):
        return getattr(x, name)(w)

    return write


MASK = W > 1
WRITES = {
    "copy_": (lambda x, w: x.copy_(w), lambda x, w: w * 1),
    "copy_ of a row": (lambda x, w: x.copy_(w[0]), lambda x, w: w[0].expand((2, 3))),
    "fill_": (lambda x, w: x.fill_(3), lambda x, w: x * 0 + 3),
    "zero_": (lambda x, w: x.zero_(), lambda x, w: x * 0),
    "x[0] = w": (set_item(0, lambda w: w[1]), lambda x, w: crisol.stack([w[1], x[1]])),
    "x[:, ::-1] = w": (set_item((slice(None), slice(None, None, -1)), lambda w: w), lambda x, w: crisol.flip(w, 1)),
    "x[mask] = number": (
        set_item(crisol.asarray(MASK), lambda w: -1.0),
        lambda x, w: crisol.where(crisol.asarray(MASK), -1.0, x),
    ),
    "x[positions] = w": (
        set_item(crisol.asarray([1, 0]), lambda w: w),
        lambda x, w: crisol.stack([w[1], w[0]]),
    ),
    "+=": (augmented("__iadd__"), lambda x, w: x + w),
    "-=": (augmented("__isub__"), lambda x, w: x - w),
    "*=": (augmented("__imul__"), lambda x, w: x * w),
    "/=": (augmented("__itruediv__"), lambda x, w: x / w),
    "%=": (augmented("__imod__"), lambda x, w: x % w),
    "**=": (augmented("__ipow__"), lambda x, w: x**w),
}


@pytest.mark.parametrize("name", WRITES)
def test_each_write_has_the_gradient_of_the_same_function(name):
    write, function = WRITES[name]
    for one, other in zip(gradients(function, True), gradients(write, False)):
        np.testing.assert_allclose(zeros_for_none(one), zeros_for_none(other), rtol=1e-5, atol=1e-6)


def test_a_product_in_place():
    for wants in (False, True):
        m = crisol.ones((3, 3)) * 2
        w = crisol.ones((3,)).requires_grad_()
        start = crisol.ones((3, 3)).requires_grad_()
        if wants:
            m = start * 2
        m @= crisol.stack([w, w, w])
        assert m.requires_grad
        m.sum().backward()
        assert w.grad.tolist() == [18, 18, 18]
        if wants:
            assert start.grad.tolist() == [[6, 6, 6]] * 3


@pytest.mark.parametrize("overwritten", [lambda x: x.add_(1), lambda x: x.copy_(x * 3)])
def test_the_other_operand_of_a_frozen_weight_may_be_overwritten(overwritten):
    matrix, kernel = crisol.full((3, 3), 5.0), crisol.full((3, 3, 1, 1), 5.0)
    for product in (
        lambda x: x @ matrix,
        lambda x: matrix @ x,
        lambda x: nn.functional.linear(x, matrix),
        lambda x: nn.functional.conv2d(x.reshape(1, 3, 3, 1), kernel),
        lambda x: x.matmul(matrix[0]),
        lambda x: x * matrix,
    ):
        wanted = crisol.ones((3, 3)).requires_grad_()
        product(wanted).sum().backward()
        w = crisol.ones((3, 3)).requires_grad_()
        x = w * 1
        y = product(x)
        overwritten(x)
        y.sum().backward()
        assert w.grad.tolist() == wanted.grad.tolist()
    w = crisol.ones((3, 3)).requires_grad_()
    x = w * 1
    x @= matrix
    x.sum().backward()
    assert w.grad.tolist() == [[15, 15, 15]] * 3


def test_an_operand_that_a_gradient_reads_may_not_be_overwritten():
    weight = crisol.ones((3, 3)).requires_grad_()
    for product in (lambda x: x @ weight, lambda x: weight @ x, lambda x: nn.functional.linear(x, weight)):
        x = crisol.ones((3, 3)) * 2
        y = product(x)
        x += 1
        with pytest.raises(crisol.InvalidArgumentError, match="changed in place"):
            y.sum().backward()


def test_whole_numbers_take_no_gradient():
    w = crisol.ones((3,)).requires_grad_()
    for write in (lambda x: x.copy_(w * 2), lambda x: x.__setitem__(slice(None), w * 2)):
        x = crisol.zeros((3,), dtype=crisol.int32)
        write(x)
        assert not x.requires_grad and x.tolist() == [2, 2, 2]
    x = crisol.ones((3,), dtype=crisol.int32)
    x <<= 2
    x |= 1
    assert x.tolist() == [5, 5, 5]


def test_rows_of_a_result_that_are_filled():
    w = crisol.ones((3,)).requires_grad_()
    rows = crisol.zeros((2, 3))
    for i in range(2):
        rows[i].copy_(w * (i + 1))
    ((rows * rows).sum() + 0 * w.sum()).backward()
    assert w.grad.tolist() == [10, 10, 10]


def test_a_leaf_and_a_view_that_was_made_without_record_are_refused():
    p = nn.Parameter(crisol.ones((2, 3)))
    for write in (lambda x: x.add_(1), lambda x: x.copy_(x), lambda x: x.__setitem__(0, 1), lambda x: x.zero_()):
        with pytest.raises(crisol.InvalidArgumentError, match="leaf that wants a gradient"):
            write(p)
        with pytest.raises(crisol.InvalidArgumentError, match="leaf that wants a gradient"):
            write(p[0:1])
    for name in ("uniform_", "normal_"):
        with pytest.raises(crisol.InvalidArgumentError, match="wants a gradient"):
            getattr(p * 1, name)()
    x = crisol.zeros((2, 3))
    with crisol.no_grad():
        view = x[0]
    with pytest.raises(crisol.InvalidArgumentError, match="no_grad"):
        view.copy_(p[0])


def test_idioms_of_models():
    class Block(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.a, self.b = nn.Linear(n, n), nn.Linear(n, n)

        def forward(self, x):
            out = self.b(self.a(x).relu())
            out += x
            out[out < 0] = 0
            return out

    block, x = Block(4), crisol.ones((2, 4))
    block(x).sum().backward()
    found = [array_of(p.grad) for p in block.parameters()]
    block.zero_grad()
    (block.b(block.a(x).relu()) + x).relu().sum().backward()
    for one, other in zip(found, block.parameters()):
        np.testing.assert_allclose(one, array_of(other.grad), rtol=1e-5, atol=1e-6)


def test_kept_gradients_stay():
    for with_optimizer in (False, True):
        layer = nn.Linear(1, 1, bias=False)
        owner = optim.SGD(layer.parameters(), 0.1) if with_optimizer else layer
        kept = []
        for task in (1, 2, 3):
            owner.zero_grad()
            (layer(crisol.ones((1, 1))) * task).sum().backward()
            kept.append(layer.weight.grad)
        assert [g.item() for g in kept] == [1, 2, 3]
    p = nn.Parameter(crisol.ones((1,)))
    optimizer = optim.SGD([p], 0.1)
    (p * 5).sum().backward()
    before, p.grad = p.grad, None
    (p * 7).sum().backward()
    assert (p.grad - before).item() == 2
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.item() == 0


@pytest.mark.parametrize("make", [optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop, optim.Lion, nn.Module])
def test_zero_grad_keeps_the_tensor_without_set_to_none(make):
    net = nn.Linear(3, 2)
    owner = net if make is nn.Module else make(net.parameters(), 0.01)
    net(crisol.ones((4, 3))).sum().backward()
    gradient = net.weight.grad
    owner.zero_grad(set_to_none=False)
    assert gradient.tolist() == [[0] * 3] * 2
    net(crisol.ones((4, 3))).sum().backward()
    assert gradient.tolist() == [[4] * 3] * 2
    owner.zero_grad()
    assert net.weight.grad is None


def train(net, optimizer, steps=3):
    for _ in range(steps):
        optimizer.zero_grad()
        ((net(crisol.ones((4, 3))) - 1) ** 2).mean().backward()
        optimizer.step()


def test_aliases_follow_the_optimiser():
    net = nn.Linear(3, 2)
    state, watch, row = net.state_dict(), net.weight.detach(), net.weight.detach()[0]
    train(net, optim.SGD(net.parameters(), 0.1))
    now = array_of(net.weight)
    for alias in (state["weight"], watch):
        np.testing.assert_array_equal(array_of(alias), now)
    np.testing.assert_array_equal(array_of(row), now[0])
    watch.fill_(3)
    assert (array_of(net.weight) == 3).all()
    train(net, optim.Adam(net.parameters(), 0.1))
    np.testing.assert_array_equal(array_of(watch), array_of(net.weight))


def test_arrays_of_numpy_follow_the_optimiser():
    net = nn.Linear(3, 2)
    try:
        shared = np.from_dlpack(net.weight.detach(), copy=False)
    except (BufferError, TypeError, crisol.Error):
        pytest.skip("the memory of the device is not the host's")
    train(net, optim.SGD(net.parameters(), 0.1))
    net.weight.device.synchronize()
    np.testing.assert_array_equal(shared, array_of(net.weight))


def test_a_parameter_over_an_array_of_numpy():
    array = np.ones(4096, np.float32)
    try:
        p = nn.Parameter(crisol.from_dlpack(array, copy=False))
    except (BufferError, crisol.Error):
        pytest.skip("the memory of the device is not the host's, or lies at another place")
    optimizer = optim.SGD([p], 0.5)
    p.sum().backward()
    optimizer.step()
    p.device.synchronize()
    assert (array == 0.5).all() and (array_of(p) == 0.5).all()


def test_an_assigned_buffer_is_a_new_tensor():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Buffer(crisol.zeros((2,)))

    counter = Counter()
    given = crisol.zeros((2,))
    counter.other = nn.Buffer(given)
    counter.other = crisol.ones((2,))
    assert given.tolist() == [0, 0]
    taken = [counter.table, counter.table[0], counter.table.detach(), counter.get_buffer("table")]
    taken += [dict(counter.named_buffers())["table"], counter.state_dict()["table"]]
    counter.table = counter.table + 1
    assert all((array_of(t) == 0).all() for t in taken)
    assert counter.table.tolist() == counter.state_dict()["table"].tolist() == [1, 1]
    assert counter.get_buffer("table").tolist() == [1, 1] and isinstance(counter.table, nn.Buffer)
    table = counter.table
    counter.table += 1
    assert counter.table is table and table.tolist() == [2, 2]
    counter.load_state_dict({"table": crisol.full((2,), 5.0)}, strict=False)
    assert table.tolist() == [5, 5]
    # A buffer that a class of the library registered.
    norm = nn.BatchNorm1d(2)
    before = norm.running_mean
    norm.running_mean = crisol.ones((2,))
    assert before.tolist() == [0, 0] and norm.state_dict()["running_mean"].tolist() == [1, 1]
    norm.running_mean.fill_(4)
    assert norm.state_dict()["running_mean"].tolist() == [4, 4]


def test_a_parameter_that_another_one_replaces_stays_as_it_was():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(crisol.ones((2,)))

    model = Model()
    old = model.w
    (old * 2).sum().backward()
    model.w = nn.Parameter(crisol.zeros((2,)))
    assert old.tolist() == [1, 1] and old.grad.tolist() == [2, 2] and old.requires_grad
    assert model.w.tolist() == [0, 0] and model.w.grad is None
    (model.w.sum() + (old * 3).sum()).backward()
    assert model.w.grad.tolist() == [1, 1] and old.grad.tolist() == [5, 5]
    model.w = old
    assert model.state_dict()["w"].tolist() == [1, 1] and [p.tolist() for p in model.parameters()] == [[1, 1]]


class Scale(crisol.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        return x * scale

    @staticmethod
    def backward(ctx, dy):
        return ctx.gradient(dy) if hasattr(ctx, "gradient") else (dy * 2, None)


def test_a_custom_backward_may_return_none():
    x = crisol.ones((3,)).requires_grad_()
    scale = crisol.full((3,), 2.0).requires_grad_()
    Scale.apply(x, scale).sum().backward()
    assert x.grad.tolist() == [2, 2, 2] and scale.grad is None


def custom(gradient):
    class Own(crisol.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum(0)

        @staticmethod
        def backward(ctx, dy):
            return gradient(dy)

    x = crisol.ones((2, 3)).requires_grad_()
    Own.apply(x).sum().backward()
    return x.grad


def test_results_of_a_custom_backward_are_checked():
    assert custom(lambda dy: crisol.ones((4, 2, 3))).tolist() == [[4] * 3] * 2
    assert custom(lambda dy: crisol.ones((2, 3), dtype=crisol.float16)).dtype == crisol.float32
    with pytest.raises(crisol.InvalidArgumentError, match=r"Own.*\(3\).*input 0.*\(2, 3\)"):
        custom(lambda dy: dy)
    with pytest.raises(crisol.InvalidArgumentError, match=r"Own.*int32"):
        custom(lambda dy: crisol.ones((2, 3), dtype=crisol.int32))


def test_memory_does_not_grow():
    net = nn.Linear(64, 64)
    optimizer = optim.SGD(net.parameters(), 0.1)

    def step():
        optimizer.zero_grad()
        out = net(crisol.ones((8, 64)))
        out += 1
        out[0] = out[1] * 2
        out.sum().backward()
        optimizer.step()
        gc.collect()
        return net.weight.device.memory_stats().in_use

    before = [step() for _ in range(3)][-1]
    assert [step() for _ in range(5)][-1] <= before


def test_peak_memory_is_of_the_time_since_the_last_reset():
    x = crisol.zeros(1 << 20)
    del x
    gc.collect()
    assert crisol.cuda.max_memory_allocated() >= crisol.cuda.memory_allocated() + (4 << 20)
    crisol.cuda.reset_peak_memory_stats()
    assert crisol.cuda.max_memory_allocated() == crisol.cuda.memory_allocated()


@pytest.mark.parametrize("make", [None, optim.SGD, optim.Adam])
def test_data_gives_the_elements_back(make):
    """Programs compute with averaged weights for a while, and take the own ones back."""
    net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    nn.init.ones_(net[0].weight)
    net[1].weight = net[0].weight
    optimizer = None if make is None else make(net.parameters(), 1.0)
    weight = net[0].weight
    kept, view, state = weight.data, weight.view(1), net.state_dict()
    weight.data = crisol.full((1, 1), 5.0)
    assert weight.tolist() == net[1].weight.tolist() == [[5]] and net(crisol.ones(1, 1)).tolist() == [[25]]
    assert kept.tolist() == state["0.weight"].tolist() == [[1]] and view.tolist() == [1]
    weight.data = kept
    assert weight.tolist() == [[1]] and net(crisol.ones(1, 1)).tolist() == [[1]]
    if optimizer is not None:
        net(crisol.ones(1, 1)).sum().backward()
        assert weight.grad.tolist() == [[2]]
        optimizer.step()
        assert weight.item() < 0.5 and net[1].weight.tolist() == weight.tolist() and kept.tolist() == [[1]]
        before = weight.item()
        optimizer.zero_grad()
        net(crisol.ones(1, 1)).sum().backward()
        optimizer.step()
        assert weight.item() != before and kept.tolist() == [[1]]


def test_data_of_other_tensors():
    x = crisol.ones(2).requires_grad_()
    y, old = x * x, x.data
    x.data = crisol.full((2,), 3.0)
    y.sum().backward()
    assert x.tolist() == [3, 3] and old.tolist() == [1, 1] and x.grad.tolist() == [2, 2]
    kept = x.grad
    x.grad.data = crisol.zeros(2)
    assert x.grad.tolist() == [0, 0] and kept is not None
    whole = crisol.arange(4.0)
    part = whole[1:3]
    part.data = crisol.zeros(2)
    assert whole.tolist() == [0, 1, 2, 3] and part.tolist() == [0, 0]
    norm = nn.BatchNorm1d(2)
    norm.running_mean.data = crisol.ones(2)
    assert norm.running_mean.tolist() == [1, 1]
    assert norm.state_dict()["running_mean"].tolist() == [1, 1]
    layer = nn.Linear(1, 1, bias=False)
    layer.weight.data = layer.weight.data.half()
    assert layer.weight.dtype is crisol.float16
    whole.data = whole
    assert whole.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="the tensor is crisol.float32"):
        whole.data = whole.half()


def test_a_buffer_that_was_none():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", None)
            self.register_buffer("other", crisol.ones(1), persistent=False)

    net = Net()
    assert net.table is None and "table" not in net.state_dict()
    net.table = crisol.ones(2)
    assert sorted(name for name, _ in net.named_buffers()) == ["other", "table"]
    assert net.state_dict()["table"].tolist() == [1, 1] and list(net.state_dict()) == ["table"]
    net.table = None
    assert net.state_dict() == {} and net.table is None
    net.table = crisol.zeros(3)
    assert net.half().table.dtype is crisol.float16


def test_columns_of_a_tensor_scale_each_other():
    """They lie between each other in memory, and share no element. In crisol before 0.3 this was an error if they had
    other sizes."""
    x = crisol.arange(21.0).reshape(3, 7)
    x[:, 5:] *= x[:, 4:5]
    x[:, 1:3] += x[:, 3:4]
    x[::2, 0] = x[1, 0]
    assert x.tolist() == [
        [7, 4, 5, 3, 4, 20, 24],
        [7, 18, 19, 10, 11, 132, 143],
        [7, 32, 33, 17, 18, 342, 360],
    ]
    with pytest.raises(crisol.InvalidArgumentError, match="share a part"):
        x[:, 1:] += x[:, :6]
