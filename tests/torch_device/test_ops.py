"""Ops on the device against the CPU, with the samples of PyTorch's own op_db."""

import copy

import pytest
import torch
from compare import DEVICE, REFUSED, UNDEFINED, assert_same, check_sample, native, quiet, to_device, variants
from torch.testing._internal.common_methods_invocations import op_db

# Each of these entries runs on the device alone, with all its samples of f32, and so do its gradients.
NATIVE = """
abs acos acosh add addcdiv addcmul addmm addmv amax amin argmax argmin asin asinh atan atan2 atanh baddbmm bmm cat
ceil chunk clamp clone copysign cos cosh cumsum eq equal erf erfc exp exp2 expand expm1 fill flip floor fmax fmin fmod
full_like ge gt heaviside hypot index_add index_copy index_fill index_select isfinite isinf isnan le lerp linalg.cross
log log10 log1p log2 log_softmax logaddexp logit logsumexp lt masked_fill masked_scatter matmul maximum mean minimum
mm mul narrow ne neg nn.functional.adaptive_avg_pool2d nn.functional.adaptive_avg_pool3d nn.functional.avg_pool2d
nn.functional.avg_pool3d nn.functional.channel_shuffle nn.functional.conv2d nn.functional.elu nn.functional.embedding
nn.functional.gelu nn.functional.glu nn.functional.group_norm nn.functional.hardshrink nn.functional.hardswish
nn.functional.layer_norm nn.functional.leaky_relu nn.functional.linear nn.functional.max_pool2d
nn.functional.max_pool3d nn.functional.max_unpool1d nn.functional.max_unpool2d nn.functional.max_unpool3d
nn.functional.mish nn.functional.mse_loss nn.functional.prelu nn.functional.relu nn.functional.rrelu
nn.functional.scaled_dot_product_attention nn.functional.silu nn.functional.softplus nn.functional.softshrink
nn.functional.upsample_bilinear nn.functional.upsample_nearest permute pow reciprocal remainder reshape roll round
rsqrt rsub scatter scatter_add select sigmoid sign sin sinc sinh softmax sort split sqrt squeeze stack std sub sum t
tan tanh transpose tril triu trunc unbind unsqueeze var view where zeros_like
""".split()
ENTRIES = [op for op in op_db if op.name in NATIVE and not op.variant_test_name]


def test_every_name_has_an_entry():
    assert set(NATIVE) == {op.name for op in ENTRIES}


@pytest.mark.parametrize("op", ENTRIES, ids=lambda op: op.name)
def test_forward_and_gradient(op):
    with quiet():
        samples = list(op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd))
    with native():
        ran = sum(check_sample(op, sample, op.supports_autograd) for sample in samples[:: max(1, len(samples) // 12)])
    assert ran > 0


def entries(name):
    return [op for op in op_db if op.name == name]


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"])
def test_interpolate(mode):
    (op,) = [op for op in entries("nn.functional.interpolate") if op.variant_test_name == mode]
    with native():
        assert sum(check_sample(op, sample, True) for sample in op.sample_inputs("cpu", torch.float32, True)) > 0


SAMPLED = [("pad", "reflect"), ("pad", "replicate"), ("pad", "replicate_negative"), ("nll_loss", "")]
SAMPLED += [("kl_div", ""), ("cross_entropy", ""), ("multi_margin_loss", ""), ("multilabel_margin_loss", "")]
SAMPLED += [("ctc_loss", "")]
SAMPLED += [(f"adaptive_max_pool{axes}d", "") for axes in (1, 2, 3)]


@pytest.mark.parametrize("name, variant", SAMPLED)
def test_all_samples_are_native(name, variant):
    (op,) = [op for op in entries(f"nn.functional.{name}") if op.variant_test_name == variant]
    with native():
        assert sum(check_sample(op, sample, True) for sample in op.sample_inputs("cpu", torch.float32, True)) > 0


def test_fold():
    settings = {"output_size": (7, 6), "kernel_size": (3, 2), "padding": 1, "stride": 2, "dilation": (1, 2)}
    x = torch.randn(2, 12, 12)
    values = {}
    for device in ("cpu", DEVICE):
        given = x.to(device).requires_grad_()
        with native():
            y = torch.nn.functional.fold(given, **settings)
            values[device] = [y.detach(), torch.nn.functional.fold(given[0], **settings).detach()]
            values[device] += torch.autograd.grad(y.sin().sum(), given)
    assert_same(values[DEVICE], values["cpu"])


def on_both(function):
    """The results of a function of a device, on the CPU and on the device alone."""
    expected = function("cpu")
    with native():
        assert_same(function(DEVICE), expected)


@pytest.mark.parametrize("size, step", [(3, 1), (2, 3)])
def test_gradients_of_windows(size, step):
    x = torch.randn(2, 3, 8, 7)

    def windows(device):
        given = x.to(device).requires_grad_()
        y = given.unfold(2, size, step).unfold(3, size, step)
        return [y.detach(), *torch.autograd.grad(y.sin().sum(), given)]

    on_both(windows)


def test_numbers_rounded_to_a_quantised_type():
    x = torch.cat([torch.randn(4, 6) * 3, torch.tensor([[0.05, 0.15, -0.05, 99, -99, 0]])])

    def rounded(device):
        given = x.to(device).requires_grad_()
        scales, zeros = torch.linspace(0.02, 0.3, 6, device=device), torch.arange(-3, 3, device=device).int()
        results = [torch.fake_quantize_per_tensor_affine(given, 0.1, 3, -8, 7)]
        results += [torch.fake_quantize_per_tensor_affine(given, scales[2], zeros[1], 0, 255)]
        results += [torch.fake_quantize_per_channel_affine(given, scales, zeros, 1, -128, 127)]
        gradients = [torch.autograd.grad((y * y).sum(), given)[0] for y in results]
        return [*(y.detach() for y in results), *gradients]

    on_both(rounded)
    layer = torch.ao.quantization.FakeQuantize(quant_min=0, quant_max=255)

    def layers(device):
        made = copy.deepcopy(layer).to(device)
        on = made(x.to(device))
        made.disable_fake_quant()
        return [on, made(x.to(device)), made.scale]

    on_both(layers)


def test_bits_move():
    x = torch.randint(-128, 128, (20,), dtype=torch.int8)

    def moved(device):
        y = x.to(device)
        z = y.clone()
        z <<= 1
        z >>= torch.tensor(2, device=device)
        return [y << 3, y >> 4, (y >> torch.arange(20, device=device).to(torch.int8) % 8) & 1, z]

    on_both(moved)


@pytest.mark.parametrize("frequent", [False, True])
def test_tables_with_a_largest_norm_or_gradients_by_frequency(frequent):
    torch.manual_seed(0)
    table, indices = torch.randn(6, 4), torch.tensor([[1, 1, 5], [1, 0, 5]])

    def embedded(device):
        layer = torch.nn.Embedding.from_pretrained(
            table.clone().to(device), freeze=False, max_norm=None if frequent else 1.0, scale_grad_by_freq=frequent
        )
        y = layer(indices.to(device))
        y.square().sum().backward()
        return [y.detach(), layer.weight.grad, layer.weight.detach()]

    on_both(embedded)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
@pytest.mark.parametrize("keepdim", [False, True])
def test_most_frequent_and_middle_elements(dtype, keepdim):
    x = torch.randint(4, (5, 7, 6)).to(dtype)
    if dtype.is_floating_point:
        x[0, 1, 2] = x[3, 3, 3] = float("nan")

    def chosen(device):
        y = x.to(device)
        results = [f(y, axis, keepdim).values for f in (torch.median, torch.nanmedian) for axis in (0, 1, -1)]
        counted = y.nan_to_num()
        results += [part for axis in (0, 1, -1) for part in torch.mode(counted, axis, keepdim)]
        return [*results, *torch.mode(counted[0, 0], out=(y.new_empty(0), torch.empty(0, dtype=int, device=device)))]

    on_both(chosen)


def test_complex_numbers_that_turn_pairs():
    """Positions of a transformer, as Llama's first program writes them."""
    torch.manual_seed(0)
    x, angles = torch.randn(2, 5, 3, 8), torch.outer(torch.arange(5.0), torch.tensor([1.0, 0.1, 0.01, 0.001]))

    def turned(device):
        given, angle = x.to(device).requires_grad_(), angles.to(device)
        turn = torch.polar(torch.ones_like(angle), angle)
        pairs = torch.view_as_complex(given.reshape(2, 5, 3, 4, 2))
        y = torch.view_as_real(pairs * turn[:, None]).flatten(3)
        z = torch.complex(angle, -angle)
        sums = [(z + turn).real, torch.sub(z, turn, alpha=2).imag, (z.conj() * angle).imag]
        sums.append(z.conj().resolve_conj().imag)
        sums.append(z.clone().conj_physical_().imag)
        return [y.detach(), *torch.autograd.grad((y**3).sum(), given), *sums, z.conj().imag * 2]

    on_both(turned)


def test_columns_of_a_tensor_scale_each_other():
    """The columns lie between each other in memory, and share no element."""
    x = torch.arange(1.0, 43).reshape(6, 7)

    def scaled(device):
        y = x.to(device).clone()
        y[:, 5:] *= y[:, 4:5]
        y[:, 1:3] += y[:, 3:5]
        y[::2] -= y[1::2]
        y[:, 0] = y[:, 6]
        return [y]

    on_both(scaled)


@pytest.mark.parametrize("right", [False, True])
def test_searches_in_several_sorted_lists(right):
    lists, values = torch.randint(5, (2, 3, 6)).float().sort(-1).values, torch.randint(-1, 6, (2, 3, 4)).float()
    on_both(lambda device: [torch.searchsorted(lists.to(device), values.to(device), right=right)])


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_samples_that_pytorch_refuses_on_other_devices(name):
    """The entry's other samples are right, and there is an error for at least one sample."""
    errors = 0
    for op in entries(name):
        for sample in op.sample_inputs("cpu", torch.float32):
            check_sample(op, sample, False)
            with quiet():
                try:
                    op(*to_device((sample.input, *sample.args)), **to_device(sample.kwargs))
                except Exception as error:
                    errors += REFUSED[name] in str(error)
    assert errors > 0


@pytest.mark.parametrize("name", sorted(UNDEFINED) + ["exponential", "multinomial", "normal", "randint", "uniform"])
def test_undefined_and_random_results_have_the_right_shapes(name):
    for op in entries(name):
        assert sum(check_sample(op, sample, False) for sample in op.sample_inputs("cpu", torch.float32)) > 0


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_cross_entropy_of_halves_has_a_native_gradient(dtype, reduction):
    results = []
    for device in ("cpu", DEVICE):
        torch.manual_seed(0)
        x, labels = torch.randn(12, 7).to(device, dtype).requires_grad_(), torch.randint(7, (12,)).to(device)
        with native():
            loss = torch.nn.functional.cross_entropy(x, labels, reduction=reduction)
            loss.backward(torch.full_like(loss, 0.5))
        results.append((loss, x.grad))
    assert_same(results[1], results[0])


@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_of_halves(training):
    """The running statistics are halves too."""
    values = {}
    for device in ("cpu", DEVICE):
        x = (torch.arange(24.0).reshape(3, 2, 4) / 8).half().to(device).requires_grad_()
        mean, var, weight = (torch.tensor(v).half().to(device) for v in ([0.5, 1.0], [2.0, 0.5], [1.5, 0.75]))
        weight.requires_grad_()
        with native():
            y = torch.nn.functional.batch_norm(x, mean, var, weight, weight.detach(), training=training)
            dy = torch.linspace(0, 1, 24).reshape(3, 2, 4).half().to(device)
            values[device] = [y.detach(), *torch.autograd.grad(y, [x, weight], dy)]
    assert_same(values[DEVICE], values["cpu"])


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_equal_elements(dtype):
    (op,) = entries("topk")
    assert all(check_sample(op, sample, False) for sample in op.sample_inputs("cpu", dtype))
    x = torch.tensor([[3, 1, 3, 2, 3]]).to(dtype)
    values, indices = x.to(DEVICE).topk(2)
    assert_same(values, torch.tensor([[3, 3]]).to(dtype))
    assert_same(x.to(DEVICE).gather(1, indices), values.cpu())
    assert indices[0, 0].item() != indices[0, 1].item()


@pytest.mark.parametrize("name", ["abs", "add", "addmm", "clamp", "cumsum", "exp", "masked_fill", "mul", "sort", "sum"])
def test_variants(name):
    """Non-contiguous samples, in place, in place in a view, and with out=."""
    for op in entries(name):
        for sample in list(op.sample_inputs("cpu", torch.float32, requires_grad=True))[:3]:
            for _, other, function in variants(op, sample):
                check_sample(op, other, function is op, function)


UNARY = ["exp", "tanh", "sigmoid", "neg", "relu", "abs", "sqrt"]
BINARY = ["add", "sub", "mul", "div", "maximum", "pow"]
LAYOUTS = {
    "transposed": lambda x: x.t(),
    "every second": lambda x: x[:, ::2],
    "expanded": lambda x: x[:, :1].expand(-1, 5),
    "offset": lambda x: x[2:, 1:],
    "channels last": lambda x: x[None, :, :, None].to(memory_format=torch.channels_last),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_layouts(name, layout):
    x = torch.rand(6, 8) + 0.5
    view, twin = LAYOUTS[layout](x), LAYOUTS[layout](x.to(DEVICE))
    function = getattr(torch, name)
    with native():
        if name in UNARY:
            assert_same(function(twin), function(view))
        else:
            assert_same(function(twin, twin.flip(0)), function(view, view.flip(0)))
            if name != "maximum":
                assert_same(function(twin, 2), function(view, 2))
                assert_same(
                    torch.rsub(twin, 3) if name == "sub" else function(twin, 1.5),
                    torch.rsub(view, 3) if name == "sub" else function(view, 1.5),
                )


@pytest.mark.parametrize("layout", ["transposed", "every second", "offset"])
@pytest.mark.parametrize(
    "name", ["add_", "mul_", "div_", "sub_", "clamp_", "relu_", "exp_", "masked_fill_", "fill_", "copy_"]
)
def test_in_place_on_views(name, layout):
    x = torch.rand(6, 8) + 0.5
    y = x.to(DEVICE)
    with native():
        for a in (x, y):
            view = LAYOUTS[layout](a)
            other = torch.full(view.shape, 1.25, device=a.device)
            arguments = {
                "clamp_": (0.6, 1.1),
                "relu_": (),
                "exp_": (),
                "masked_fill_": (view > 1, 7.0),
                "fill_": (3.0,),
            }
            getattr(view, name)(*arguments.get(name, (other,)))
    assert_same(y, x)


@pytest.mark.parametrize("name", ["add", "mul", "matmul", "maximum"])
def test_out(name):
    a, b = torch.rand(5, 5), torch.rand(5, 5)
    function = getattr(torch, name)
    for out in (torch.empty(5, 5), torch.empty(5, 5).t(), torch.empty(10, 10)[::2, 1:6], torch.empty(0)):
        result = torch.empty_strided(out.shape, out.stride(), device=DEVICE)
        function(a, b, out=out)
        given = function(a.to(DEVICE), b.to(DEVICE), out=result)
        assert given is result
        assert_same(result, out)


PAIRS = [torch.float32, torch.float16, torch.int64, torch.uint8, torch.bool]


@pytest.mark.parametrize("right", PAIRS, ids=str)
@pytest.mark.parametrize("left", PAIRS, ids=str)
def test_promotion(left, right):
    a, b = (torch.tensor([[0, 1, 2], [3, 4, 5]]).to(left), torch.tensor([1, 1, 2]).to(right))
    for function in (torch.add, torch.mul, torch.true_divide, torch.eq, torch.lt, torch.maximum, torch.logical_and):
        expected = function(a, b)
        actual = function(a.to(DEVICE), b.to(DEVICE))
        assert actual.dtype == expected.dtype
        assert_same(actual, expected)
        assert_same(function(a.to(DEVICE), b[2].to(DEVICE)), function(a, b[2]))
    for number in (2, 2.5, True):
        assert_same(a.to(DEVICE) + number, a + number)
        assert_same(number * a.to(DEVICE), number * a)
        assert_same(a.to(DEVICE) > number, a > number)


def test_indexing():
    x = torch.arange(60.0).reshape(3, 4, 5)
    y = x.to(DEVICE)
    rows, mask = torch.tensor([2, 0, -1]), x % 3 == 0
    with native():
        for a, i, m in ((x, rows, mask), (y, rows.to(DEVICE), mask.to(DEVICE))):
            a.results = [
                a[i],
                a[:, i],
                a[i, i],
                a[i, :, i],
                a[m],
                a[..., None, i],
                a[0, m[0]],
                a[:, torch.tensor([1, 3])],
            ]
            b = a.clone()
            b[i] = 1.0
            b[:, i, 2] += 5
            b[m] = -1.0
            b[m] = b[m] * 2
            b.index_put_((i,), torch.ones(4, 5, device=a.device), accumulate=True)
            b.index_add_(1, i.abs(), torch.ones(3, 3, 5, device=a.device), alpha=2)
            b.index_fill_(2, i.abs(), 9.0)
            a.results += [b, a.nonzero(), a.masked_select(m), a.take_along_dim(i.abs().view(3, 1, 1), 1)]
    for actual, expected in zip(y.results, x.results, strict=True):
        assert_same(actual, expected)


def test_gradients_of_views_and_indexing():
    values = {}
    for device in ("cpu", DEVICE):
        torch.manual_seed(0)
        x = torch.randn(4, 6).to(device).requires_grad_()
        y = x.view(2, 12)[:, ::3].t() * 2
        z = torch.cat([y.flatten(), x[torch.tensor([1, 1, 3]).to(device)].flatten(), x.unfold(1, 3, 2).flatten()])
        w = z.clone()
        w[2:5] = w[2:5].exp()
        w.pow(2).sum().backward()
        values[device] = x.grad
    assert_same(values[DEVICE], values["cpu"])


def test_second_gradients():
    values = {}
    for device in ("cpu", DEVICE):
        x = torch.linspace(0.1, 1, 12).reshape(3, 4).to(device).requires_grad_()
        (first,) = torch.autograd.grad((x.tanh() @ x.t()).exp().sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.pow(2).sum(), x)
        values[device] = second
    assert_same(values[DEVICE], values["cpu"])


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("settings", [{}, {"stride": 2, "padding": 1}, {"groups": 2, "dilation": 2}], ids=str)
def test_convolutions(axes, transposed, settings):
    if transposed and settings.get("stride"):
        settings = settings | {"output_padding": 1}
    kind = getattr(torch.nn, f"Conv{'Transpose' if transposed else ''}{axes}d")
    torch.manual_seed(0)
    layer = kind(4, 6, 3, **settings)
    x = torch.randn(2, 4, *[7, 8, 6][:axes])
    values = {}
    for device in ("cpu", DEVICE):
        moved = x.to(device).requires_grad_()
        model = layer.to(device)
        with native():
            y = model(moved)
            gradients = torch.autograd.grad(y.sin().sum(), [moved, *model.parameters()])
        values[device] = [y.detach().cpu(), *[g.cpu() for g in gradients]]
    assert_same(values[DEVICE], values["cpu"])


def test_convolution_of_a_type_that_the_device_does_not_take():
    x, weight = (torch.randn(1, 1, 5, 5, dtype=torch.complex64), torch.randn(1, 1, 3, 3, dtype=torch.complex64))
    expected = torch.conv2d(x, weight)
    assert_same(torch.conv2d(x.to(DEVICE), weight.to(DEVICE)), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("factors", [(1, 1), (1, 0.37), (-4.775, 2.03), (0, 2.03)])
def test_sums_with_products_are_rounded_once(dtype, factors):
    beta, alpha = factors
    shapes = {
        torch.addmm: ((20, 30), (20, 40), (40, 30)),
        torch.baddbmm: ((3, 20, 30), (3, 20, 40), (3, 40, 30)),
        torch.addmv: ((20,), (20, 40), (40,)),
    }
    for function, sizes in shapes.items():
        operands = [torch.randn(size).to(dtype) for size in sizes]
        exact = function(*[x.double() for x in operands], beta=beta, alpha=alpha)
        with native():
            actual = function(*[x.to(DEVICE) for x in operands], beta=beta, alpha=alpha).cpu().double()
        # Half a unit in the last place, and the rounding of float32 sums.
        error = (actual - exact).abs() - torch.finfo(dtype).eps / 2 * exact.abs()
        assert error.max() < 1e-4, function.__name__


@pytest.mark.parametrize("settings", [{}, {"activation": "gelu", "norm_first": True}], ids=str)
@pytest.mark.parametrize("masks", [(), ("mask",), ("src_key_padding_mask",), ("mask", "src_key_padding_mask")])
def test_transformer_encoder_in_inference(settings, masks):
    """PyTorch calls a whole layer as one op then, and makes nested tensors on devices that have them."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, **settings)
    model = torch.nn.TransformerEncoder(layer, 2).eval()
    given = {
        "mask": torch.triu(torch.ones(5, 5, dtype=torch.bool), 1),
        "src_key_padding_mask": torch.tensor([[False] * 5, [False] * 3 + [True] * 2]),
    }
    x = torch.randn(2, 5, 16)
    expected = model(x, **{name: given[name] for name in masks}).detach()  # With a graph, without the op.
    model.to(DEVICE)
    with torch.inference_mode(), native():
        actual = model(x.to(DEVICE), **{name: given[name].to(DEVICE) for name in masks})
    assert_same(actual, expected)


@pytest.mark.parametrize("weights", [{"need_weights": False}, {}, {"average_attn_weights": False}], ids=str)
def test_attention_in_inference(weights):
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(16, 4, batch_first=True).eval()
    x, mask = torch.randn(2, 5, 16), torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    expected = [y if y is None else y.detach() for y in layer(x, x, x, mask, **weights)]
    layer.to(DEVICE)
    moved = x.to(DEVICE)
    with torch.no_grad(), native():
        assert_same(list(layer(moved, moved, moved, mask.to(DEVICE), **weights)), expected)


def test_wrong_index_is_an_error():
    x = torch.arange(4.0, device=DEVICE)
    with pytest.raises(IndexError, match="9"):
        x[torch.tensor([1, 9], device=DEVICE)].cpu()
    assert_same(x[1:], torch.arange(1.0, 4.0))
