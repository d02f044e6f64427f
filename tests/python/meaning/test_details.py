"""Dtypes, limits and texts that differ easily."""

import copy
import math

import crisol
import numpy
import pytest
from crisol import nn, optim
from crisol.nn import functional as F


def test_float_power_is_computed_in_float64():
    found = crisol.float_power(crisol.tensor([2, 3]), 0.5)
    assert found.dtype is crisol.float64
    numpy.testing.assert_allclose(found, numpy.sqrt([2.0, 3.0]), rtol=1e-12)
    assert crisol.tensor([2.0]).float_power(crisol.tensor([3])).tolist() == [8.0]


@pytest.mark.parametrize("dtype, wanted", [("float32", "float32"), ("int64", "float64"), ("bool", "float64")])
def test_weights_of_bincount(dtype, wanted):
    weights = crisol.ones(4, dtype=getattr(crisol, dtype))
    found = crisol.bincount(crisol.tensor([0, 2, 2, 1]), weights)
    assert found.dtype is getattr(crisol, wanted) and found.tolist() == [1.0, 1.0, 2.0]


def test_bounds_of_logspace_have_the_dtype():
    assert crisol.logspace(0, 1.2, 2, dtype=crisol.int64).tolist() == [1, 10]
    assert crisol.logspace(4.3, 0, 2, base=2.0, dtype=crisol.uint8).tolist() == [16, 1]


@pytest.mark.parametrize("arguments", [(0, 5, -1), (5, 0), (0.0, 1.0, -0.5)])
def test_a_step_of_arange_leads_to_the_end(arguments):
    with pytest.raises(ValueError, match="does not lead from"):
        crisol.arange(*arguments)
    assert crisol.arange(2, 2).shape == (0,) and crisol.arange(5, 0, -2).tolist() == [5, 3, 1]


def test_logsumexp_of_whole_numbers():
    x = crisol.tensor([[1, 2], [3, -1]])
    expected = numpy.log(numpy.exp(numpy.array([[1, 2], [3, -1.0]])).sum(1))
    for found in (crisol.logsumexp(x, 1), x.logsumexp(dim=1), crisol.special.logsumexp(x, 1)):
        numpy.testing.assert_allclose(found, expected, rtol=1e-6)
    assert crisol.logsumexp(x > 0, (0, 1), keepdim=True).shape == (1, 1)


def test_no_elements():
    counts, edges = crisol.histogram(crisol.zeros(0), 2)
    assert counts.tolist() == [0.0, 0.0] and edges.tolist() == [0.0, 0.5, 1.0]
    values, inverse = crisol.unique_consecutive(crisol.zeros(5, 1, 3), return_inverse=True, dim=1)
    assert values.shape == (5, 1, 3) and inverse.tolist() == [0]


def test_results_without_elements_depend_on_their_inputs():
    none = crisol.zeros(0, dtype=crisol.int64)
    x = crisol.ones(5, 3, requires_grad=True)
    for found in (
        crisol.gather(x, 1, none.reshape(0, 3)),
        crisol.gather(x, 0, none.reshape(7, 0)),
        x[none],
        x[crisol.zeros(5, 3, dtype=crisol.bool)],
        F.cross_entropy(x[:0], none, reduction="sum"),
    ):
        x.grad = None
        found.sum().backward()
        assert x.grad.tolist() == crisol.zeros(5, 3).tolist()


def test_the_largest_rows_of_bags_with_padding():
    table = crisol.tensor([[1.0, 9.0], [-2.0, -3.0], [-4.0, 5.0]])
    indices = crisol.tensor([[0, 1], [1, 2], [0, 0]])
    found = F.embedding_bag(indices, table, mode="max", padding_idx=0)
    assert found.tolist() == [[-2.0, -3.0], [-2.0, 5.0], [0.0, 0.0]]


def test_as_tensor_gives_a_tensor_itself():
    x = crisol.ones(2)
    assert crisol.as_tensor(x) is x and crisol.as_tensor(x, dtype=crisol.float32) is x
    assert crisol.as_tensor(x, dtype=crisol.int64).dtype is crisol.int64


def test_nextafter():
    x = crisol.tensor([1.0, 0.0])
    expected = numpy.nextafter(numpy.float32([1, 0]), numpy.float32([2, -1]))
    assert numpy.array_equal(x.nextafter(crisol.tensor([2.0, -1.0])), expected)


def test_statistics_that_a_norm_does_not_keep():
    for layer in (nn.BatchNorm2d(3, track_running_stats=False), nn.BatchNorm1d(3, track_running_stats=False),
                  nn.InstanceNorm2d(3)):  # fmt: skip
        assert layer.running_mean is layer.running_var is layer.num_batches_tracked is None
    assert nn.BatchNorm2d(3).running_mean.shape == (3,)
    with pytest.raises(AttributeError, match="no attribute 'running_means'"):
        nn.BatchNorm2d(3).running_means


@pytest.mark.parametrize("make", [
    lambda p: optim.Adadelta(p, rho=2), lambda p: optim.Adadelta(p, rho=-1), lambda p: optim.Rprop(p, etas=(2, 3)),
    lambda p: optim.Rprop(p, etas=(0.5, 0.9)),
])  # fmt: skip
def test_arguments_of_optimisers(make):
    with pytest.raises(ValueError, match="must be"):
        make([nn.Parameter(crisol.ones(1))])


TEXTS = [
    (lambda: nn.Parameter(crisol.ones(2)), "Parameter containing:\ntensor([1., 1.], requires_grad=True)"),
    (lambda: nn.ParameterList([nn.Parameter(crisol.ones(2, 3))]),
     "ParameterList(  (0): Parameter containing: [crisol.float32 of size 2x3])"),
    (lambda: nn.ParameterList([crisol.ones(2), crisol.ones(())]),
     "ParameterList(\n    (0): Parameter containing: [crisol.float32 of size 2]\n"
     "    (1): Parameter containing: [crisol.float32 of size ]\n)"),
    (lambda: nn.ParameterDict({"a": nn.Parameter(crisol.ones(2))}),
     "ParameterDict(  (a): Parameter containing: [crisol.FloatTensor of size 2])"),
    (lambda: nn.AdaptiveMaxPool2d((2, 3)), "AdaptiveMaxPool2d(output_size=(2, 3))"),
    (lambda: nn.AvgPool1d(2), "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))"),
    (lambda: nn.MaxPool1d(2), "MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"),
    (lambda: nn.FractionalMaxPool2d(2, 3), "FractionalMaxPool2d()"),
    (lambda: nn.CosineSimilarity(), "CosineSimilarity()"),
    (lambda: nn.PairwiseDistance(), "PairwiseDistance()"),
    (lambda: nn.Hardshrink(), "Hardshrink(0.5)"),
    (lambda: nn.Softshrink(0.1), "Softshrink(0.1)"),
    (lambda: nn.LocalResponseNorm(2), "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)"),
    (lambda: nn.GLU(), "GLU(dim=-1)"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_texts(number):
    make, text = TEXTS[number]
    assert repr(make()) == text


def slope(function, values):
    x = crisol.tensor(values, requires_grad=True)
    function(x).sum().backward()
    return x.grad


SLOPES = [
    (crisol.digamma, [1.0, 2.5], [1.644934, 0.490358]),
    (crisol.erfinv, [0.0, 0.5, 1.0], [0.886227, 1.112585, float("inf")]),
    (crisol.special.i0, [0.0, 1.0, -100.0], [0.0, 0.565159, -float("inf")]),
    (crisol.special.i1, [0.0, 1.0, -2.0], [0.5, 0.700907, 1.484269]),
    (crisol.special.i1e, [0.0, 1.0, -2.0], [0.5, 0.049939, -0.014396]),
    (crisol.special.erfcx, [0.0, 1.0, -1.0], [-1.128379, -0.273212, -11.146339]),
]


@pytest.mark.parametrize("number", range(len(SLOPES)))
def test_derivatives_at_limits(number):
    function, values, expected = SLOPES[number]
    numpy.testing.assert_allclose(slope(function, values), expected, rtol=2e-5, atol=1e-6)


def test_erfinv_keeps_its_limits_under_autograd():
    assert crisol.erfinv(crisol.tensor([1.0, -1.0], requires_grad=True)).tolist() == [float("inf"), -float("inf")]


@pytest.mark.parametrize("function", [crisol.fmax, crisol.fmin])
def test_nan_in_one_of_two_numbers_or_in_both(function):
    nan = float("nan")
    x, y = crisol.tensor([nan, nan, 1.0], requires_grad=True), crisol.tensor([nan, 2.0, nan], requires_grad=True)
    found = function(x, y)
    numpy.testing.assert_array_equal(found.detach(), [nan, 2.0, 1.0])
    found.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0] and y.grad.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("loss", [F.huber_loss, F.smooth_l1_loss])
def test_losses_of_nan_and_infinity(loss):
    y = crisol.zeros(5)
    found = slope(lambda x: loss(x, y, reduction="sum"), [float("nan"), float("inf"), -float("inf"), 0.5, 3.0])
    numpy.testing.assert_array_equal(found, [float("nan"), 1.0, -1.0, 0.5, 1.0])


def test_identity_takes_any_arguments():
    x = crisol.ones(2)
    assert nn.Identity(54, unused=0.1)(x).tolist() == [1.0, 1.0] and repr(nn.Identity(3)) == "Identity()"
    assert copy.deepcopy(nn.Identity(3))(x).tolist() == [1.0, 1.0]


def test_to_another_tensor():
    x, other = crisol.ones(2), crisol.zeros(1, dtype=crisol.int64)
    found = x.to(other, True, copy=True, memory_format=crisol.preserve_format)
    assert found.dtype is crisol.int64 and x.to(crisol.zeros(1)) is not None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrices_keep_their_dtype(dtype):
    wanted = getattr(crisol, dtype)
    a = crisol.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], dtype=wanted)
    found = crisol.linalg.lstsq(a, crisol.ones(3, 1, dtype=wanted), driver="gels")
    assert found.residuals.dtype is found.singular_values.dtype is found.solution.dtype is wanted
    small = crisol.tensor([[1.0, 0.0], [0.0, 1e-10]], dtype=crisol.float64)
    assert abs(crisol.linalg.lstsq(small, crisol.ones(2, 1, dtype=crisol.float64)).solution[1].item() - 1e10) < 10
    assert crisol.cov(a.mT, aweights=crisol.ones(3)).dtype is wanted


def test_two_dtypes_in_mse_loss():
    x, y = crisol.tensor([1.0, 2.0], requires_grad=True), crisol.tensor([0.0, 4.0])
    for target, wanted in (
        (y.double(), crisol.float64),
        (y.to(crisol.int64), crisol.float32),
        (y.half(), crisol.float32),
    ):
        found = F.mse_loss(x, target)
        assert found.dtype is wanted and found.item() == 2.5
        (gradient,) = crisol.autograd.grad(found, x)
        assert gradient.dtype is crisol.float32 and gradient.tolist() == [1.0, -2.0]


def test_options_of_losses_are_attributes():
    loss = nn.CrossEntropyLoss(ignore_index=3, label_smoothing=0.5)
    assert (loss.ignore_index, loss.label_smoothing, loss.reduction, loss.weight) == (3, 0.5, "mean", None)
    loss.reduction, loss.label_smoothing = "sum", 0.0
    x, y = crisol.tensor([[1.0, 2.0], [0.0, 3.0]]), crisol.tensor([0, 1])
    assert loss(x, y).item() == F.cross_entropy(x, y, reduction="sum").item()
    assert list(nn.NLLLoss(crisol.ones(2)).state_dict()) == ["weight"]


def test_all_weights():
    net = nn.LSTM(4, 3, 2, bidirectional=True)
    assert [len(each) for each in net.all_weights] == [4] * 4 and net.all_weights[2][0] is net.weight_ih_l1
    assert net.all_weights[3][3] is net.bias_hh_l1_reverse and nn.GRU(2, 2, bias=False).all_weights[0][1].shape == (
        6,
        2,
    )


def test_multinomial_of_float64():
    assert crisol.multinomial(crisol.tensor([0.0, 1.0], dtype=crisol.float64), 1).tolist() == [1]


def test_a_polynomial_continues_from_a_rate_that_was_set_by_hand():
    optimizer = optim.SGD([nn.Parameter(crisol.ones(2))], 0.8)
    schedule = optim.lr_scheduler.PolynomialLR(optimizer, 4)
    schedule.step()
    optimizer.param_groups[0]["lr"] = 0.3
    assert schedule.get_last_lr() == pytest.approx([0.6])  # As in PyTorch, the rate that the schedule set.
    found = []
    for _ in range(4):
        schedule.step()
        found.append(optimizer.param_groups[0]["lr"])
    assert found == pytest.approx([0.2, 0.1, 0.0, 0.0])
    optimizer.param_groups[0]["lr"] = 0.5
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0.5


LISTS = [
    ([numpy.float64(1), 2.0], "float64"),
    ([[numpy.float32(1), 2], [3, 4]], "float32"),
    ([numpy.int32(1)], "int32"),
    ([numpy.int32(1), 2], "int64"),
    ([numpy.int32(1), 2.0], "float32"),
    ([numpy.bool_(True), False], "bool"),
    ((numpy.uint8(1), numpy.int32(2)), "int32"),
    ([numpy.ones(2), numpy.ones(2)], "float64"),
    ([crisol.tensor(1), crisol.tensor(2, dtype=crisol.int32)], "int64"),
    ([1, 2.5, True], "float32"),
]


@pytest.mark.parametrize("number", range(len(LISTS)))
def test_dtypes_of_lists(number):
    values, name = LISTS[number]
    for make in (crisol.tensor, crisol.asarray, crisol.as_tensor):
        found = make(values)
        assert found.dtype is getattr(crisol, name) and make(values, dtype=crisol.float16).dtype is crisol.float16
        assert found.tolist() == [v.tolist() if hasattr(v, "tolist") else v for v in values]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_polygamma_of_halves_is_rounded_once(dtype):
    wanted = getattr(crisol, dtype)
    found = crisol.special.polygamma(2, crisol.tensor([-8.5, 2.0, 0.5], dtype=wanted))
    assert found.dtype is wanted
    numpy.testing.assert_allclose(found.double(), [-0.0123078, -0.4041138, -16.8287966], rtol=4e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_normal_has_the_dtype_of_its_tensors(dtype):
    std = crisol.ones(3, dtype=getattr(crisol, dtype))
    for found in (crisol.normal(2.5, std), crisol.normal(std, 1.0), crisol.normal(std, std)):
        assert found.dtype is std.dtype and found.shape == (3,)


def test_layers_get_new_initial_values():
    layers = [nn.Linear(4, 2), nn.Conv2d(4, 2, 3, padding=1, padding_mode="reflect"), nn.Embedding(5, 3, padding_idx=1)]
    for layer in (*layers, nn.LSTM(2, 3), nn.LayerNorm(4)):
        before = list(layer.parameters())
        for parameter in before:
            parameter.data.fill_(9.0)
        layer.reset_parameters()
        assert all(p is q and p.abs().max().item() < 9 for p, q in zip(before, layer.parameters(), strict=True))
    assert layers[2].weight[1].tolist() == [0.0] * 3 and not hasattr(nn.ReLU(), "reset_parameters")


@pytest.mark.parametrize(
    "make", [nn.BatchNorm2d, lambda n: nn.InstanceNorm2d(n, affine=True, track_running_stats=True)]
)
def test_norms_forget_their_statistics(make):
    norm = make(2)
    norm.weight.data.fill_(3.0)
    norm(crisol.randn(4, 2, 3, 3) + 5)
    norm.reset_running_stats()
    assert norm.running_mean.tolist() == [0.0, 0.0] and norm.running_var.tolist() == [1.0, 1.0]
    assert norm.weight.tolist() == [3.0, 3.0] and norm.num_batches_tracked.item() == 0
    norm.reset_parameters()
    assert norm.weight.tolist() == [1.0, 1.0]
    nn.InstanceNorm2d(2).reset_running_stats()


def test_masked_fill_of_bool_takes_each_number():
    x, mask = crisol.tensor([True, False, False]), crisol.tensor([False, True, False])
    assert x.masked_fill(mask, 1).tolist() == x.masked_fill(mask, 2.5).tolist() == [True, True, False]
    assert x.masked_fill(crisol.tensor([True, False, True]), 0).tolist() == [False, False, False]
    with pytest.raises(ValueError, match="cannot be put into bool"):
        x.masked_fill(mask, crisol.tensor([2, 2, 2]))


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_dropout_multiplies_what_it_drops(dtype):
    x = crisol.full((1000,), float("inf"), dtype=getattr(crisol, dtype), requires_grad=True)
    y = F.dropout(x, 0.5)
    dropped = crisol.isnan(y).sum().item()
    assert 300 < dropped < 700 and crisol.isinf(y).sum().item() == 1000 - dropped
    assert crisol.isnan(F.dropout(x, 1.0)).all() and F.dropout(crisol.ones(3), 1.0).tolist() == [0.0] * 3
    y.backward(crisol.ones_like(y))
    assert set(x.grad.tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8"])
def test_extremes_of_whole_numbers_without_the_old_ones(name):
    values = dict(uint8=[200, 250], int64=[-(2**40), -(2**50)], int8=[-100, -5]).get(name, [-30000, -5])
    values = crisol.tensor(values, dtype=getattr(crisol, name))
    x, index = crisol.tensor([7, 9], dtype=values.dtype), crisol.tensor([1, 1])
    for reduce, right in ("amax", values.max().item()), ("amin", values.min().item()):
        for found in (
            x.scatter_reduce(0, index, values, reduce, include_self=False),
            x.index_reduce(0, index, values, reduce, include_self=False),
        ):
            assert found.tolist() == [7, right], (name, reduce)


def test_rarer_forms():
    x = crisol.tensor([[1.0, 0.0], [0.0, -2.0]])
    assert x.nonzero_static(size=3).tolist() == [[0, 0], [1, 1], [-1, -1]]
    assert crisol.nonzero_static(x, size=1, fill_value=7).tolist() == [[0, 0]]
    numpy.testing.assert_allclose(crisol.angle(x), numpy.angle(numpy.asarray(x)))
    assert crisol.angle(crisol.tensor([-3, 3])).dtype is crisol.float32 and math.isnan(x.new_tensor(math.nan).angle())
    y = x.as_strided_scatter(crisol.tensor([5.0, 6.0]), (2,), (3,))
    assert y.tolist() == [[5, 0], [0, 6]] and x[0, 0].item() == 1
    z = crisol.empty_permuted((2, 3, 5), (0, 2, 1), dtype=crisol.float16)
    assert z.shape == (2, 3, 5) and z.stride() == (15, 1, 3) and z.dtype is crisol.float16
    with pytest.raises(ValueError, match="each of the 2 axes once"):
        crisol.empty_permuted((2, 3), (0, 0))
    assert x.new_empty_strided((2, 3), (1, 2)).stride() == (1, 2)
    v = crisol.arange(4.0)
    assert v.as_strided_((2, 2), (1, 2)) is v and v.tolist() == [[0, 2], [1, 3]]
    assert [part.tolist() for part in crisol.unsafe_split(crisol.arange(3), 2)] == [[0, 1], [2]]
    w = crisol.tensor([2.5, 3.5])
    expected = crisol.special.multigammaln(w, 2)
    assert w.mvlgamma_(2) is w and crisol.equal(w, expected)


def test_numbers_of_codes():
    x = crisol.tensor([[-9.0, -0.26, 0.1], [0.25, 0.75, 9.0]], requires_grad=True)
    y = crisol.fake_quantize_per_tensor_affine(x, 0.5, 1, -2, 3)
    y.backward(crisol.full_like(y, 2.0))
    assert y.tolist() == [[-1.5, -0.5, 0.0], [0.0, 1.0, 1.0]] and x.grad.tolist() == [[0, 2, 2], [2, 2, 0]]
    scale, zero = crisol.tensor([0.5, 2.0]), crisol.tensor([1, 0], dtype=crisol.int32)
    y = crisol.fake_quantize_per_channel_affine(x.detach(), scale, zero, 0, -2, 3)
    assert y.tolist() == [[-1.5, -0.5, 0.0], [0.0, 0.0, 6.0]]
    with pytest.raises(ValueError, match="quant_min is 3"):
        crisol.fake_quantize_per_tensor_affine(x, 0.5, 0, 3, 1)
