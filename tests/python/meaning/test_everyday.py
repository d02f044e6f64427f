"""Names and forms of everyday programs."""

import io
import math
import pickle

import crisol
import numpy
import pytest
from crisol import nn, optim
from crisol.nn.modules.batchnorm import _BatchNorm
from crisol.nn.parameter import Parameter
from crisol.utils.data.dataloader import default_collate


def close(tensor, expected, rtol=1e-5):
    numpy.testing.assert_allclose(numpy.asarray(tensor), expected, rtol=rtol, atol=1e-6)


def test_shapes_are_sizes():
    x = crisol.zeros(2, 3, 4)
    assert isinstance(x.shape, crisol.Size) and isinstance(x.shape, tuple) and x.shape == (2, 3, 4)
    assert repr(x.shape) == "crisol.Size([2, 3, 4])" and f"{x.shape[1:]}" == "crisol.Size([3, 4])"
    assert x.shape.numel() == 24 and x.shape[:-1].numel() == 6 and x.shape[-1] == 4
    assert type(x.shape + (1,)) is type((1,) + x.shape) is crisol.Size and (1,) + x.shape == (1, 2, 3, 4)
    assert crisol.zeros(x.shape[1:] * 2).shape == (3, 4, 3, 4)
    assert pickle.loads(pickle.dumps(x.shape)) == x.shape and hash(x.shape) == hash((2, 3, 4))
    assert crisol.broadcast_shapes((2, 1), (1, 3)).numel() == 6


PRINTED = [
    ([float("nan"), 1.0, float("inf")], "tensor([nan, 1., inf])"),
    ([100000.0, 2.0], "tensor([1.0000e+05, 2.0000e+00])"),
    ([0.0, 0.0], "tensor([0., 0.])"),
    ([0.00001, 1.5], "tensor([1.0000e-05, 1.5000e+00])"),
    ([True, False], "tensor([ True, False])"),
    ([1000000, 5], "tensor([1000000,       5])"),
    (list(range(25)), "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n        18, 19,"
     " 20, 21, 22, 23, 24])"),
]


@pytest.mark.parametrize("number", range(len(PRINTED)))
def test_printing(number):
    values, text = PRINTED[number]
    assert str(crisol.tensor(values)) == text


def test_printing_of_no_and_of_many_elements():
    assert str(crisol.zeros(2, 0)) == "tensor([], size=(2, 0))"
    assert str(crisol.arange(2000)) == "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"


@pytest.mark.parametrize("value", [3.5, [1, "a"], {"a": (1, None)}])
def test_files_of_values(value, tmp_path):
    crisol.save(value, tmp_path / "f")
    assert crisol.load(tmp_path / "f") == value


def test_open_files():
    file, x = io.BytesIO(), crisol.arange(4).reshape(2, 2)
    crisol.save({"x": x, "epoch": 3}, file)
    file.seek(0)
    found = crisol.load(file, map_location="cpu", weights_only=True)
    assert found["epoch"] == 3 and found["x"].tolist() == [[0, 1], [2, 3]]
    file = io.BytesIO()
    crisol.save(x, file)
    file.seek(0)
    assert crisol.load(file).tolist() == [[0, 1], [2, 3]]


def test_pickled_objects_need_trust():
    file, net = io.BytesIO(), nn.Sequential(nn.Linear(2, 3))
    crisol.save({"net": net, "names": {"a"}}, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="weights_only=False"):
        crisol.load(file)
    file.seek(0)
    found = crisol.load(file, weights_only=False)
    assert found["names"] == {"a"}
    close(found["net"][0].weight.detach(), numpy.asarray(net[0].weight.detach()))


def test_lists_of_modules_change():
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    first = net[0]
    net.insert(1, nn.Tanh())
    assert [type(m).__name__ for m in net] == ["Linear", "Tanh", "ReLU", "Linear"]
    assert list(net.state_dict()) == ["0.weight", "0.bias", "3.weight", "3.bias"]
    del net[2]
    assert net.pop(-1).out_features == 1 and len(net) == 2 and net[0] is first
    assert len(net + nn.Sequential(nn.ReLU())) == 3
    net(crisol.zeros(1, 2))
    assert list(net._modules) == ["0", "1"] and list(net[0]._parameters) == ["weight", "bias"]
    with pytest.raises(TypeError):
        net._modules["2"] = nn.ReLU()


def test_names_of_kinds():
    assert isinstance(nn.BatchNorm2d(2), _BatchNorm) and not isinstance(nn.Linear(1, 1), _BatchNorm)
    assert Parameter is nn.Parameter and nn.modules.utils._pair(2) == (2, 2)
    assert default_collate([1, 2]).tolist() == [1, 2]
    assert isinstance(nn.ConvTranspose1d(1, 1, 1), nn.modules.conv._ConvNd)


def test_optimisers_and_schedules():
    w = nn.Parameter(crisol.ones(2))
    optimizer = optim.SGD([w], lr=0.1)
    assert optimizer.step(lambda: 3.0) == 3.0 and w.tolist() == [1, 1]
    assert repr(optimizer).startswith("SGD (\nParameter Group 0\n    dampening: ") and "    lr: 0.1\n" in repr(optimizer)
    schedule = optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    schedule.step()
    assert schedule.optimizer is optimizer and schedule.base_lrs == [0.1] and schedule.get_last_lr() == [0.05]
    plateau = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=3)
    for metric in (1.0, 2.0, 3.0):
        plateau.step(metric)
    assert plateau.num_bad_epochs == 2


def test_triangular_factors():
    rng = numpy.random.default_rng(0)
    for shape in ((4, 4), (2, 3, 5), (2, 5, 3)):
        a = rng.normal(size=shape).astype(numpy.float32)
        p, low, high = crisol.linalg.lu(crisol.asarray(a))
        close(p @ low @ high, a, 1e-4)
        assert numpy.abs(numpy.asarray(low)).max() <= 1
        factors, pivots = crisol.linalg.lu_factor(crisol.asarray(a))
        assert pivots.dtype is crisol.int32 and pivots.shape == shape[:-2] + (min(shape[-2:]),)
    a, b = rng.normal(size=(2, 4, 4)).astype(numpy.float32), rng.normal(size=(2, 4, 3)).astype(numpy.float32)
    factors, pivots, info = crisol.linalg.lu_factor_ex(crisol.asarray(a))
    assert info.tolist() == [0, 0]
    close(crisol.linalg.lu_solve(factors, pivots, crisol.asarray(b)), numpy.linalg.solve(a, b), 1e-3)
    adjoint = crisol.linalg.lu_solve(factors, pivots, crisol.asarray(b), adjoint=True)
    close(adjoint, numpy.linalg.solve(a.transpose(0, 2, 1), b), 1e-3)
    singular = crisol.linalg.lu_factor_ex(crisol.asarray([[1.0, 2.0], [2.0, 4.0]]))
    assert singular.info.item() == 2


def test_gradient():
    squares = numpy.arange(5, dtype=numpy.float32) ** 2
    close(crisol.gradient(crisol.asarray(squares))[0], numpy.gradient(squares))
    table = numpy.outer(squares, squares)
    for ours, numpys in zip(crisol.gradient(crisol.asarray(table), spacing=2.0), numpy.gradient(table, 2.0)):
        close(ours, numpys)
    places = numpy.array([0, 1, 3, 4, 8], dtype=numpy.float32)
    (found,) = crisol.gradient(crisol.asarray(squares), spacing=(crisol.asarray(places),), edge_order=2)
    close(found, numpy.gradient(squares, places, edge_order=2))


def test_frexp():
    values = numpy.array([0.0, 1.0, -3.5, 1e-30, 2.0**100, 0.5, float("inf")], dtype=numpy.float32)
    mantissa, exponent = crisol.frexp(crisol.asarray(values))
    expected = numpy.frexp(values)
    close(mantissa, expected[0])
    assert exponent.dtype is crisol.int32 and exponent.tolist()[:6] == expected[1].tolist()[:6]


def test_special_functions():
    x = crisol.asarray([0.5, 3.0, 9.0])
    close(crisol.special.i0(x), [1.0634833, 4.8807926, 1093.5884], 2e-5)
    close(crisol.special.i1(x), [0.25789431, 3.9533702, 1030.9147], 2e-5)
    close(crisol.polygamma(1, x), [4.9348022, 0.39493407, 0.11751201], 2e-5)
    close(crisol.special.zeta(2.0, crisol.asarray([1.0, 2.0])), [1.6449341, 0.64493407], 2e-5)
    close(crisol.polygamma(2, crisol.asarray([-8.9, -100.3, -3.2])), [-1998.6481, 68.835098, 246.97598], 2e-5)
    assert crisol.polygamma(2, x.half()).dtype is crisol.float16
    assert crisol.special.zeta(x * crisol.inf, 1.0).tolist() == [1, 1, 1]


def test_the_exponential_of_a_matrix_has_the_error_of_its_own_size_only():
    turns = numpy.array([[[0, -t], [t, 0]] for t in (0.5, 6.0, 80.0)], numpy.float32)
    wanted = [[[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]] for t in (0.5, 6.0)]
    close(crisol.linalg.matrix_exp(crisol.asarray(turns))[:2], wanted, 4e-6)
    assert crisol.linalg.matrix_exp(crisol.zeros(0, 3, 3)).shape == (0, 3, 3)
    assert crisol.linalg.matrix_exp(crisol.tensor([[crisol.nan, 1.0], [0.0, 1.0]])).isnan().all()


def test_changes_of_the_object():
    x = crisol.arange(6)
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]] and x.shape == (2, 2)
    assert x.resize_(5).tolist() == [0, 1, 2, 3, 0]
    assert crisol.zeros(2, 3).swapaxes_(0, 1).shape == (3, 2)
    assert crisol.zeros(2).map_(crisol.ones(2), lambda a, b: a + 2 * b).tolist() == [2, 2]
    assert crisol.arange(6)[2:].storage_offset() == 2 and crisol.tensor(1).is_nonzero()


def test_distributions_of_distributions():
    normal = crisol.distributions.Normal(0.0, 1.0)
    assert repr(normal) == "Normal(loc: 0.0, scale: 1.0)"
    log_normal = crisol.distributions.TransformedDistribution(normal, [crisol.distributions.ExpTransform()])
    x = crisol.asarray([0.5, 2.0])
    close(log_normal.log_prob(x), numpy.asarray(crisol.distributions.LogNormal(0.0, 1.0).log_prob(x)))
    affine = crisol.distributions.transforms.AffineTransform(1.0, 3.0)
    moved = crisol.distributions.TransformedDistribution(normal, affine)
    close(moved.log_prob(x), numpy.asarray(crisol.distributions.Normal(1.0, 3.0).log_prob(x)))
    close(crisol.distributions.Binomial(10, 0.3).log_prob(crisol.asarray(2.0)), -1.4546828)
    close(crisol.distributions.Weibull(1.0, 2.0).mean, 0.8862269)
    close(crisol.distributions.VonMises(0.0, 1.0).log_prob(crisol.asarray(0.5)), -1.1962086)
    counts = crisol.distributions.Multinomial(6, crisol.ones(3)).sample((4,))
    assert counts.shape == (4, 3) and counts.sum(-1).tolist() == [6, 6, 6, 6]
    mixture = crisol.distributions.MixtureSameFamily(
        crisol.distributions.Categorical(crisol.ones(2)), crisol.distributions.Normal(crisol.asarray([-1.0, 1.0]), 1.0)
    )
    close(mixture.log_prob(crisol.asarray(0.0)), -1.4189385)
    assert mixture.sample((5,)).shape == (5,)


def test_options_of_modules():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    assert list(net.state_dict(prefix="a."))[0] == "a.0.weight"
    assert net.state_dict(keep_vars=True)["0.weight"].requires_grad and not net.state_dict()["0.weight"].requires_grad
    assert [name for name, _ in net.named_parameters(prefix="m")][:2] == ["m.0.weight", "m.0.bias"]
    assert not list(net.parameters(recurse=False)) and len(list(net[0].parameters(recurse=False))) == 2
    assert [name for name, _ in net.named_modules(prefix="p")] == ["p", "p.0", "p.1"]
    assert not list(net.buffers(recurse=False)) and len(list(net[1].named_buffers("b", recurse=False))) == 3
    assert str(net.load_state_dict(net.state_dict(), assign=True)) == "<All keys matched successfully>"
    assert net.share_memory() is net


def test_gradcheck():
    x = crisol.asarray([1.0, 2.0]).requires_grad_()
    assert crisol.autograd.gradcheck(lambda x: x**2, x)
    assert not crisol.autograd.gradcheck(lambda x: x.detach() * x, x, raise_exception=False)
    with pytest.raises(RuntimeError, match=r"\[gradcheck\] result 0, input 0"):
        crisol.autograd.gradcheck(lambda x: x.detach() * x, (x,))


def test_names_of_programs_that_test_types():
    assert isinstance(nn.LSTM(2, 3), nn.RNNBase) and isinstance(nn.GRUCell(2, 3), nn.RNNCellBase)
    assert not isinstance(nn.Linear(2, 3), nn.RNNBase) and not isinstance(3, crisol.SymInt)
    assert not isinstance(nn.Linear(2, 3).weight, nn.parameter.UninitializedParameter)
    assert crisol.zeros(2).name is None and crisol.get_device_module("cuda") is crisol.cuda


def test_loops_filled_and_strided_tensors():
    i, total = crisol.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s * 2), (crisol.tensor(0), crisol.tensor(1)))
    assert (i.item(), total.item()) == (5, 32)
    x = crisol.zeros(2)
    assert crisol.fill(x, 3).tolist() == [3, 3] and x.tolist() == [0, 0]
    strided = crisol.empty_strided((2, 3), (1, 2))
    assert strided.shape == (2, 3) and strided.stride() == (1, 2)


def test_a_norm_is_part_of_the_layer_before():
    x = crisol.randn(2, 3, 5, 5)
    conv, norm = nn.Conv2d(3, 4, 3).eval(), nn.BatchNorm2d(4)
    norm(crisol.randn(8, 4, 3, 3) * 2 + 1)
    norm.eval()
    close(nn.utils.fuse_conv_bn_eval(conv, norm)(x).detach(), norm(conv(x)).detach(), 1e-4)
    up = nn.ConvTranspose2d(3, 4, 2, bias=False).eval()
    close(nn.utils.fuse_conv_bn_eval(up, norm, transpose=True)(x).detach(), norm(up(x)).detach(), 1e-4)
    linear, flat = nn.Linear(3, 2).eval(), nn.BatchNorm1d(2, affine=False)
    flat(crisol.randn(9, 2) * 2)
    flat.eval()
    rows = crisol.randn(4, 3)
    close(nn.utils.fuse_linear_bn_eval(linear, flat)(rows).detach(), flat(linear(rows)).detach(), 1e-4)
    with pytest.raises(crisol.InvalidArgumentError, match="eval"):
        nn.utils.fuse_linear_bn_eval(linear.train(), flat)


def test_adaptive_softmax():
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 11], div_value=2.0)
    x, labels = crisol.randn(6, 8), crisol.tensor([0, 4, 5, 12, 19, 10])
    every = layer.log_prob(x).detach()
    close(every.exp().sum(1), numpy.ones(6), 1e-5)
    found = layer(x, labels)
    close(found.output.detach(), every.gather(1, labels.unsqueeze(1)).squeeze(1), 1e-5)
    close(found.loss.detach(), -found.output.detach().mean())
    assert layer.predict(x).tolist() == every.argmax(1).tolist()
    found.loss.backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in layer.parameters())
    assert [tuple(tail[0].weight.shape) for tail in layer.tail] == [(4, 8), (2, 8)]
    with pytest.raises(ValueError, match="cutoffs"):
        nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 20])


def test_products_of_groups():
    a, b, ends = crisol.randn(6, 4), crisol.randn(3, 4, 5), crisol.tensor([1, 4, 6], dtype=crisol.int32)
    rows = nn.functional.grouped_mm(a, b, offs=ends)
    close(rows[1:4], a[1:4] @ b[1])
    close(nn.functional.grouped_mm(a.T, crisol.ones(6, 2), offs=ends)[1], a[1:4].sum(0).unsqueeze(1).expand(4, 2), 1e-5)
    close(nn.functional.grouped_mm(b.mT, a.T, offs=ends)[:, 1:4], b[1].T @ a[1:4].T)


def test_second_derivatives_are_checked():
    x = crisol.tensor([1.0, 2.0], requires_grad=True)
    assert crisol.autograd.gradgradcheck(lambda t: t**3, x)
    with pytest.raises(RuntimeError, match="difference"):
        crisol.autograd.gradgradcheck(lambda t: t.detach() ** 2 * t, x)


def test_methods_of_matrices():
    x = crisol.tensor([[2.0, 1.0], [1.0, 3.0]])
    assert (x.matrix_power(2) == x @ x).all() and x.slogdet().logabsdet.exp().item() == pytest.approx(5)
    close(crisol.linalg.matrix_sqrth(x) @ crisol.linalg.matrix_sqrth(x), x)


def test_backward_to_some_leaves():
    w, v = crisol.ones(2, requires_grad=True), crisol.full((2,), 3.0, requires_grad=True)
    (w * v).sum().backward(inputs=[w])
    assert w.grad.tolist() == [3, 3] and v.grad is None
    crisol.autograd.backward([(w * v).sum(), w.sum()], inputs=w)
    assert w.grad.tolist() == [7, 7] and v.grad is None
    with pytest.raises(RuntimeError, match="inputs is empty"):
        (w * v).sum().backward(inputs=[])


def test_arguments_of_grad():
    x = crisol.tensor([1.0, 2.0], requires_grad=True)
    (jacobian,) = crisol.autograd.grad(x**2, x, crisol.eye(2), is_grads_batched=True)
    assert jacobian.tolist() == [[2, 0], [0, 4]]
    (found,) = crisol.autograd.grad((x**2).sum(), x, None, None, True, True, False)  # PyTorch's order.
    assert found.tolist() == [2, 4] and found.requires_grad
    with pytest.raises(RuntimeError, match=r"\[grad\] only_inputs=False: call backward"):
        crisol.autograd.grad((x**2).sum(), x, only_inputs=False)


def test_values_beside_derivatives():
    def function(x):
        return x**2, x.sum()

    x = crisol.tensor([1.0, 2.0])
    for derive in (crisol.func.jacrev, crisol.func.jacfwd):
        jacobian, more = derive(function, has_aux=True)(x)
        assert jacobian.tolist() == [[2, 0], [0, 4]] and more.item() == 3
    value, product, more = crisol.func.jvp(function, (x,), (crisol.ones(2),), has_aux=True)
    assert value.tolist() == [1, 4] and product.tolist() == [2, 4] and more.item() == 3


def test_matrices_without_an_inverse_are_errors():
    linalg, zeros = crisol.linalg, crisol.zeros(2, 2)
    for function in (linalg.inv, crisol.inverse, lambda x: linalg.solve(x, crisol.ones(2)), linalg.cholesky):
        with pytest.raises(linalg.LinAlgError, match="a matrix is"):
            function(zeros)
    pair = crisol.stack([crisol.eye(2), -crisol.eye(2)])
    assert linalg.cholesky_ex(pair)[1].tolist() == [0, 1] and linalg.inv_ex(zeros)[1].item() == 1
    for function in (linalg.cholesky_ex, lambda x, **named: linalg.inv_ex(0 * x, **named)):
        with pytest.raises(linalg.LinAlgError):
            function(pair, check_errors=True)
    nan = crisol.full((2, 2), math.nan)  # As in PyTorch, values that are no numbers are no error.
    assert crisol.isnan(linalg.inv(nan)).all() and crisol.isnan(linalg.solve(crisol.eye(2), nan)).all()
    assert linalg.inv(crisol.zeros(0, 2, 2)).shape == (0, 2, 2)
    unit = crisol.eye(2)
    crisol.capture(lambda: linalg.cholesky(unit)).replay()


def test_old_arguments_of_losses():
    x, y = crisol.tensor([1.0, 2.0]), crisol.tensor([2.0, 4.0])
    with pytest.warns(FutureWarning, match="write reduction='sum'"):
        assert nn.MSELoss(size_average=False)(x, y).item() == 5
    with pytest.warns(FutureWarning, match="write reduction='none'"):
        assert nn.functional.l1_loss(x, y, reduce=False).tolist() == [1, 2]


def test_initial_values_from_a_generator():
    for function in (nn.init.normal_, nn.init.uniform_, nn.init.kaiming_uniform_, nn.init.xavier_normal_):
        drawn = [function(crisol.empty(3, 3), generator=crisol.Generator().manual_seed(5)).tolist() for _ in range(2)]
        assert drawn[0] == drawn[1] and len({value for row in drawn[0] for value in row}) == 9


def test_other_names_of_modules():
    net = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU()))
    net.register_parameter(name="scale", param=Parameter(crisol.ones(1)))
    net.set_submodule("1.0", nn.Tanh())
    assert isinstance(net[1][0], nn.Tanh) and len(list(net.modules(remove_duplicate=False))) == 4
    with pytest.raises(AttributeError):
        net.set_submodule("1.3", nn.Tanh())
    assert net.type(crisol.float16).scale.dtype is crisol.float16
    steps = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
    x, y = (crisol.ones(1, 2, requires_grad=True) for _ in "xy")
    crisol.utils.checkpoint.checkpoint_sequential(steps, 2, x).sum().backward()
    steps(y).sum().backward()
    close(x.grad, y.grad.numpy())
    assert crisol.distributions.Geometric(logits=crisol.tensor(0.0)).probs.item() == 0.5
    crisol.set_default_tensor_type(crisol.FloatTensor)
    with crisol.autograd.detect_anomaly(check_nan=False):
        crisol.log(crisol.full((1,), -1.0, requires_grad=True)).sum().backward()
