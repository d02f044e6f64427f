"""Random nodes of networks: products, windows, norms, recurrent layers, quantization, and nodes with bodies."""

import numpy as np
from onnx import helper
from onnx.helper import np_dtype_to_tensor_dtype as type_number
from onnx_graph import Refused, boolean, f16, f32, i32, i64, u8
from onnx_nodes import signed


def real(g, low, high):
    return float(g.random.uniform(low, high))


# Products


def matmul(g):
    x = g.pick([f32, f32, f16], 1, 4)
    shape = g.a(x).shape
    n = g.choice(g.sizes)
    other = (shape[-1], n) if g.chance(0.85) else (shape[-1],)
    if len(other) == 2 and len(shape) > 2 and g.chance(0.6):
        other = (*g.broadcasting(shape[:-2]), *other)
    g.add("MatMul", [x, g.leaf(g.a(x).dtype, other)])


def gemm(g):
    x = g.pick([f32, f32, f16], 2, 2)
    dtype = g.a(x).dtype
    from_a, from_b, n = g.n(0, 2), g.n(0, 2), g.choice(g.sizes)
    m, k = g.a(x).shape[::-1] if from_a else g.a(x).shape
    inputs = [x, g.leaf(dtype, (n, k) if from_b else (k, n))]
    if g.opset < 11 or g.chance(0.7):
        inputs.append(g.leaf(dtype, g.choice([(n,), (1, n), (m, 1), (m, n), (1,), ()])))
    more = dict(alpha=real(g, -1, 2)) if g.chance(0.4) else {}
    more |= dict(beta=real(g, -1, 2)) if g.chance(0.4) else {}
    g.add("Gemm", inputs, transA=from_a, transB=from_b, **more)


def einsum(g):
    x = g.pick([f32], 1, 4)
    if 0 in g.a(x).shape or 0 in g.sizes:
        raise Refused("ONNX Runtime ends the process")
    letters = list("abcdefg")
    g.random.shuffle(letters)
    shape = g.a(x).shape
    one = letters[: len(shape)]
    shared = g.subset(range(len(shape)))
    two = [one[k] for k in shared] + letters[len(shape) : len(shape) + g.n(0, 2)]
    sizes = dict(zip(one, shape))
    for letter in two:
        sizes.setdefault(letter, g.choice(g.sizes))
    result = "".join(g.subset(dict.fromkeys(one + two)))
    arrow = "->" + result if g.chance(0.85) else ""
    if g.chance(0.2):
        return g.add("Einsum", [x], equation="".join(one) + "->" + "".join(g.subset(one)))
    y = g.leaf(f32, tuple(sizes[letter] for letter in two))
    return g.add("Einsum", [x, y], equation=f"{''.join(one)},{''.join(two)}{arrow}")


# Convolutions and pools


def window(g, size, has_dilation=True):
    """Attributes of a window over axes of these sizes."""
    kernel = [g.n(1, max(min(s, 4), 1) + 1) for s in size]
    more = dict(kernel_shape=kernel)
    if g.chance(0.5):
        more["strides"] = [g.n(1, 4) for _ in size]
    if has_dilation and g.chance(0.3):
        more["dilations"] = [g.n(1, 3) for _ in size]
    if g.chance(0.25):
        more["auto_pad"] = g.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        if "SAME" in more["auto_pad"]:
            more.pop("dilations", None)
            # Otherwise ONNX Runtime pads by less than nothing, or refuses that.
            more["strides"] = [min(k, g.n(1, 4)) for k in kernel]
    elif g.chance(0.6):
        more["pads"] = [g.n(0, k) for k in kernel + kernel]
    return more


def image(g, types=(f32, f32, f32, f16)):
    """A value (batch, channels, …)."""
    if g.chance(0.5):
        size = tuple(g.n(1, 9) for _ in range(g.choice([1, 2, 2, 3])))
        channels = g.choice([8, 16, 17, 32]) if g.chance(0.25) else g.n(1, 7)
        return g.leaf(g.choice(types), (g.choice(g.sizes), channels, *size), constant=False)
    return g.pick(types, 3, 5)


def convolution(g):
    conv(g, image(g))


def conv(g, x):
    dtype, (_, channels, *size) = g.a(x).dtype, g.a(x).shape
    if min(g.a(x).shape) == 0:
        raise Refused("no elements")
    group = g.choice([k for k in range(1, channels + 1) if channels % k == 0])
    more = window(g, size)
    outputs = group * (g.choice([8, 16]) if channels // group >= 8 and g.chance(0.6) else g.n(1, 3))
    is_transposed = g.chance(0.4)
    strides = more.get("strides", [1] * len(size))
    weight = (channels, outputs // group) if is_transposed else (outputs, channels // group)
    # With SAME a kernel must not become shorter than the strides.
    is_constant = "SAME" in more.get("auto_pad", "") or g.chance(0.8)
    inputs = [x, g.leaf(dtype, (*weight, *more["kernel_shape"]), constant=is_constant)]
    if g.chance(0.6):
        inputs.append(g.leaf(dtype, (outputs,), constant=g.chance(0.8)))
    if is_transposed and "auto_pad" not in more and g.chance(0.4):
        more["output_padding"] = [g.n(0, s) for s in strides]
    elif is_transposed and g.opset >= 11 and g.chance(0.2):  # ONNX Runtime overlooks the rule of version 1.
        steps = more.get("dilations", [1] * len(size))
        whole = [(n - 1) * t + (k - 1) * d + 1 for n, t, k, d in zip(size, strides, more["kernel_shape"], steps)]
        more["output_shape"] = [max(1, n - g.n(0, 3)) for n in whole]
    if g.chance(0.3):
        more.pop("kernel_shape")
    return g.add(
        "ConvTranspose" if is_transposed else "Conv",
        inputs,
        group=group if group > 1 or g.chance(0.5) else None,
        **more,
    )


def pool(g):
    x = image(g)
    op = g.choice(["MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool", "Global"])
    if op == "Global":
        return g.add(g.choice(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"]), [x])
    since = dict(MaxPool=10, AveragePool=19, LpPool=18)[op]
    more = window(g, g.a(x).shape[2:], has_dilation=g.opset >= since)
    if g.opset >= max(10, since if op == "LpPool" else 0) and g.chance(0.4):
        more["ceil_mode"] = 1
    if op == "AveragePool" and g.chance(0.5):
        more["count_include_pad"] = 1
    if op == "LpPool" and g.chance(0.5):
        more["p"] = g.n(1, 4)
    if op == "MaxPool" and g.chance(0.25):
        return g.add(op, [x], 2, storage_order=g.choice([None, 0, 1]), **more)
    return g.add(op, [x], **more)


def resize(g):
    x = g.pick([f32], 2, 4)
    shape = g.a(x).shape
    more = dict(mode=g.choice(["nearest", "linear", "cubic"]))
    factors = [
        1.0 if k < len(shape) - 2 or g.chance(0.2) else g.choice([0.5, 0.6, 1.5, 2.0, 2.3, 3.0])
        for k in range(len(shape))
    ]
    scales = g.constant(np.array(factors, np.float32))
    if g.opset < 11:
        more["mode"] = g.choice(["nearest", "linear"])
        return g.add("Upsample" if g.opset < 10 else "Resize", [x, scales], **more)
    names = "half_pixel pytorch_half_pixel align_corners asymmetric tf_crop_and_resize half_pixel_symmetric".split()
    more["coordinate_transformation_mode"] = g.choice(names[: 6 if g.opset >= 19 else 5])
    if more["coordinate_transformation_mode"] == "tf_crop_and_resize" and (more["mode"] == "cubic" or g.symbols):
        raise Refused("ONNX Runtime mixes the axes up, and overlooks the region of an axis that keeps its size")
    roi = ""
    if more["coordinate_transformation_mode"] == "tf_crop_and_resize":
        # ONNX Runtime overlooks the region of an axis that keeps its size.
        keeps = [int(size * factor) == size for size, factor in zip(shape, factors)]
        apart = [0.0 if kept else g.random.uniform(-0.2, 0.2) for kept in keeps]
        roi = g.constant(np.array([*apart, *(1 + a for a in apart)], np.float32))
    elif g.opset < 13:
        roi = g.constant(np.zeros(0, np.float32))
    if more["mode"] == "nearest":
        more["nearest_mode"] = g.choice("round_prefer_floor round_prefer_ceil floor ceil".split())
    if more["mode"] == "cubic":
        if not np.isfinite(g.a(x)).all():
            raise Refused("what 0 times NaN is differs, also between ONNX Runtime and ONNX's reference")
        more |= dict(cubic_coeff_a=g.choice([-0.75, -0.5]), exclude_outside=g.n(0, 2))
    if g.opset >= 18 and g.chance(0.4) and more["mode"] != "nearest":
        more["antialias"] = 1
    # ONNX Runtime and ONNX's own tests differ in what the length of align_corners is for a factor.
    if g.chance(0.5) and more["coordinate_transformation_mode"] != "align_corners":
        return g.add("Resize", [x, roi, scales], **more)
    sizes = [max(1, int(s * f)) for s, f in zip(shape, factors)]
    empty = "" if g.opset >= 13 else g.constant(np.zeros(0, np.float32))
    return g.add("Resize", [x, roi, empty, g.host(sizes)], **more)


def blocks(g):
    block = g.n(2, 4)
    if g.chance(0.5):
        more = dict(mode=g.choice(["DCR", "CRD"])) if g.opset >= 11 else {}
        x = g.leaf(f32, (g.choice(g.sizes), block * block * g.n(1, 3), g.n(1, 4), g.n(1, 4)))
        return g.add("DepthToSpace", [x], blocksize=block, **more)
    x = g.leaf(f32, (g.choice(g.sizes), g.n(1, 4), block * g.n(1, 3), block * g.n(1, 3)))
    return g.add("SpaceToDepth", [x], blocksize=block)


def grid_sample(g):
    if g.opset < 16:
        raise Refused("later")
    x = g.pick([f32], 4, 4)
    mode = g.choice(["linear", "nearest", "cubic"] if g.opset >= 20 else ["bilinear", "nearest", "bicubic"])
    # ONNX Runtime rounds before it reflects, and PyTorch reflects before it rounds.
    padding = g.choice(["zeros", "border", "reflection"] if mode != "nearest" else ["zeros", "border"])
    grid = g.leaf(f32, (g.a(x).shape[0], g.n(1, 5), g.n(1, 5), 2), constant=False)
    g.add("GridSample", [x, grid], mode=mode, align_corners=g.n(0, 2), padding_mode=padding)


# Norms


def norm(g):
    x = image(g)
    dtype, shape = g.a(x).dtype, g.a(x).shape
    channels = shape[1]
    epsilon = g.choice([None, 1e-3, 0.1])
    way = g.n(0, 6)

    def vector(size=(channels,), least=None):
        array = g.array(dtype, size)
        return g.constant(np.abs(array) + np.array(least, dtype) if least else array)

    if way == 0:
        return g.add("BatchNormalization", [x, vector(), vector(), vector(), vector(least=0.1)], epsilon=epsilon)
    if way == 1:
        if np.prod(shape[2:]) == 1:
            raise Refused("ONNX Runtime is 1e-4 off")
        return g.add("InstanceNormalization", [x, vector(), vector()], epsilon=epsilon)
    if way == 2:
        axis = g.n(0, len(shape))
        more = [vector(shape[axis:])] if g.chance(0.6) else []
        wanted = g.choice([None, None, (1, 1, 1), (1, 0, 1)])
        return g.add(
            "LayerNormalization",
            [x, vector(shape[axis:]), *more],
            len(wanted or [1]),
            wanted=wanted,
            axis=signed(g, axis, len(shape)),
            epsilon=epsilon,
        )
    if way == 3:
        groups = g.choice([k for k in range(1, channels + 1) if channels % k == 0] or [1])
        size = (groups,) if g.opset < 21 else (channels,)
        return g.add("GroupNormalization", [x, vector(size), vector(size)], num_groups=groups, epsilon=epsilon)
    if way == 4:
        if np.abs(g.a(x)).max() > 10:
            raise Refused("ONNX Runtime adds and subtracts squares from channel to channel, so its sums are inexact")
        return g.add(
            "LRN",
            [x],
            size=g.choice([1, 3, 5]),
            alpha=real(g, 0.01, 1),
            beta=g.choice([None, 0.5]),
            bias=g.choice([None, 2.0]),
        )
    # ONNX Runtime gives nan for MeanVarianceNormalization of equal numbers.
    return g.add("LpNormalization", [x], axis=g.n(-1, len(shape)), p=g.n(1, 3))


# Recurrent layers


def recurrent(g):
    op = g.choice(["LSTM", "GRU", "RNN"])
    gates = dict(LSTM=4, GRU=3, RNN=1)[op]
    x = g.pick([f32, f32, f32, f16], 3, 3)
    dtype, (length, batch, size) = g.a(x).dtype, g.a(x).shape
    direction = g.choice(["forward", "reverse", "bidirectional"])
    if 0 in g.a(x).shape:
        raise Refused("ONNX Runtime ends the process")
    d, hidden = 2 if direction == "bidirectional" else 1, g.n(1, 5)

    def leaf(*shape):
        return g.leaf(dtype, shape, constant=g.chance(0.8))

    inputs = [x, leaf(d, gates * hidden, size), leaf(d, gates * hidden, hidden)]
    inputs.append(leaf(d, 2 * gates * hidden) if g.chance(0.7) else "")
    lengths = np.sort(g.random.integers(1, length + 1, batch))[::-1].astype(np.int32) if length else None
    inputs.append(g.constant(lengths) if g.chance(0.4) and length else "")
    more = {}
    inputs.append(leaf(d, batch, hidden) if g.chance(0.5) else "")
    if op == "LSTM":
        inputs.append(leaf(d, batch, hidden) if g.chance(0.5) else "")
        inputs.append(leaf(d, 3 * hidden) if g.chance(0.3) else "")
        more["input_forget"] = 1 if g.chance(0.15) else None
    if op == "GRU" and g.chance(0.5):
        more["linear_before_reset"] = 1
    if g.chance(0.15):
        more["clip"] = real(g, 0.5, 2)
    if g.chance(0.25):
        gate = [g.choice(["Sigmoid", "HardSigmoid"])] if op != "RNN" else []  # With Relu a cell grows without limit.
        others = dict(LSTM=2, GRU=1, RNN=1)[op]
        more["activations"] = (gate + [g.choice(["Tanh", "Relu", "Softsign"]) for _ in range(others)]) * d
    while inputs[-1] == "":
        inputs.pop()
    count = 3 if op == "LSTM" else 2
    wanted = [g.n(0, 2) for _ in range(count)]
    wanted[g.n(0, count)] = 1
    g.add(op, inputs, count, wanted=wanted, hidden_size=hidden, direction=direction, **more)


# Quantization


def quantize(g):
    way = g.n(0, 4)
    if way == 0 and g.opset >= 11:
        x = g.pick([f32], 0, 4)
        if not g.a(x).any():
            raise Refused("ONNX leaves the scale of zeros open")
        return g.add("DynamicQuantizeLinear", [x], 3)
    if way == 1:
        x = g.pick([u8], 2, 4)
        k = g.a(x).shape[-1]
        zero = g.constant(np.array(g.n(0, 9), np.uint8)) if g.chance(0.6) else ""
        y = g.leaf(u8, (k, g.choice(g.sizes)))
        return g.add("MatMulInteger", [x, y, zero] if zero else [x, y])
    is_forward = way == 2
    x = g.pick([f32] if is_forward else [u8, i32, u8], 1, 4)
    rank, axis = g.a(x).ndim, g.n(0, g.a(x).ndim)
    size = (g.a(x).shape[axis],) if g.opset >= 13 and g.chance(0.4) else ()
    scale = g.constant(g.random.uniform(0.01, 0.5, size).astype(np.float32))
    dtype = u8 if is_forward else g.a(x).dtype
    more = [g.constant(g.array(dtype, size) if dtype == u8 else np.zeros(size, dtype))] if g.chance(0.7) else []
    axis = dict(axis=signed(g, axis, rank)) if size else {}
    g.add("QuantizeLinear" if is_forward else "DequantizeLinear", [x, scale, *more], **axis)


# Nodes with bodies

body_ops = "Add Mul Sub Max Min".split()


def value_info(name, dtype, shape):
    return helper.make_tensor_value_info(name, type_number(dtype), shape)


def body_nodes(g, x, y, result, others=()):
    """Nodes that compute `result` of the shape of x from x, y and others."""
    nodes, last = [], x
    for k in range(g.n(1, 4)):
        name = f"{result}_{k}"
        if g.chance(0.3):
            nodes.append(helper.make_node(g.choice(["Abs", "Neg", "Tanh", "Relu"]), [last], [name]))
        else:
            nodes.append(helper.make_node(g.choice(body_ops), [last, g.choice([y, *others])], [name]))
        last = name
    return [*nodes, helper.make_node("Identity", [last], [result])]


def control_if(g):
    condition = g.add("ReduceMax", [g.add("Cast", [g.pick(boolean)], to=int(type_number(i32)))], keepdims=0)
    condition = g.add("Cast", [condition], to=int(type_number(boolean)))
    if g.chance(0.2):
        condition = g.constant(np.array(g.chance(0.5)))
    x = g.pick([f32])
    y = g.beside(x)
    branches = {}
    for key in ("then_branch", "else_branch"):
        result = g.name("b")
        nodes = body_nodes(g, x, y, result)
        branches[key] = helper.make_graph(nodes, key, [], [value_info(result, f32, None)])
    return g.add("If", [condition], captured=[x, y], **branches)


def control_loop(g):
    x = g.pick([f32])
    y = g.beside(x)
    if np.broadcast_shapes(g.a(x).shape, g.a(y).shape) != g.a(x).shape:
        raise Refused("grows")
    at, going, state, result, row = (g.name("b") for _ in range(5))
    nodes = body_nodes(g, state, y, result)
    outputs = [value_info(result, f32, None)]
    has_rows = g.chance(0.6)
    still = g.name("b")
    if g.chance(0.4):
        limit = g.constant(np.array(g.n(0, 4), np.int64))
        nodes.append(helper.make_node("Less", [at, limit], [still]))
    else:
        limit = y
        nodes.append(helper.make_node("Identity", [going], [still]))
    if has_rows:
        number = g.name("b")
        nodes.append(helper.make_node("Cast", [at], [number], to=int(type_number(f32))))
        nodes.append(helper.make_node("Mul", [result, number], [row]))
        outputs.append(value_info(row, f32, None))
    body = helper.make_graph(
        nodes,
        "body",
        [value_info(at, i64, []), value_info(going, boolean, []), value_info(state, f32, None)],
        [value_info(still, boolean, []), *outputs],
    )
    # ONNX Runtime does not know the shape of no rows.
    trips = (g.constant if g.chance(0.6) else g.input)(np.array(g.n(1 if has_rows else 0, 5), np.int64))
    start = g.constant(np.array(has_rows or g.chance(0.8))) if g.chance(0.6) else ""
    g.add("Loop", [trips, start, x], len(outputs), captured=[y, limit], body=body)


def control_scan(g):
    x = g.pick([f32], 2, 4)
    shape, rank = g.a(x).shape, g.a(x).ndim
    if 0 in shape:
        raise Refused("ONNX Runtime ends the process")
    axis = g.n(0, rank)
    rest = shape[:axis] + shape[axis + 1 :]
    start = g.leaf(f32, rest)
    state, row, result, out = (g.name("b") for _ in range(4))
    nodes = [
        helper.make_node(g.choice(["Add", "Max", "Sub"]), [state, row], [result]),
        helper.make_node("Relu", [result], [out]),
    ]
    body = helper.make_graph(
        nodes,
        "body",
        [value_info(state, f32, None), value_info(row, f32, None)],
        [value_info(result, f32, None), value_info(out, f32, None)],
    )
    more = dict(scan_input_directions=[g.n(0, 2)]) if g.chance(0.5) else {}
    more |= dict(scan_output_directions=[g.n(0, 2)]) if g.chance(0.5) else {}
    more |= dict(scan_output_axes=[g.n(0, rank)]) if g.chance(0.4) else {}
    g.add("Scan", [start, x], 2, body=body, num_scan_inputs=1, scan_input_axes=[axis], **more)


kinds = {
    matmul: 4, gemm: 3, einsum: 3, convolution: 8, pool: 5, resize: 4, blocks: 2, grid_sample: 1, norm: 5, recurrent: 4,
    quantize: 3, control_if: 2, control_loop: 2, control_scan: 2,
}  # fmt: skip
