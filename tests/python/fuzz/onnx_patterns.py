"""Groups of nodes as exporters write them, which crisol's passes look for."""

import numpy as np
from onnx_graph import Refused, f32
from onnx_network import conv, image
from onnx_nodes import axes_form


def number(g, value):
    return g.constant(np.float32(value) if g.chance(0.7) else np.full((1,), value, np.float32))


def activation(g, x):
    """An activation, by itself or written out."""
    way = g.n(0, 8)
    if way == 0:
        return g.add(g.choice(["Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu", "Softplus"]), [x])
    if way == 1:
        return g.add("Mul", [x, g.add("Sigmoid", [x])])
    if way == 2:
        inner = g.add("Erf", [g.add("Div", [x, number(g, np.sqrt(2))])])
        return g.add("Mul", [g.add("Mul", [x, g.add("Add", [inner, number(g, 1)])]), number(g, 0.5)])
    if way == 3:
        if g.opset < 11:
            return g.add("Clip", [x], min=0.0, max=6.0)
        return g.add("Clip", [x, number0(g, 0), number0(g, 6)])
    if way == 4:
        return g.add("Mul", [x, g.add("HardSigmoid", [x], alpha=1 / 6)])
    if way == 5:
        return g.add("Add", [x, g.beside(x)])
    if way == 6:
        return g.add("Mul", [x, g.beside(x)])
    return x


def number0(g, value):
    return g.constant(np.float32(value))


def attention(g):
    batch, heads, rows, keys, size = (g.choice([*g.sizes, 2, 3]) for _ in range(5))
    outer = g.choice([(batch, heads), (batch,), ()])
    q = g.leaf(f32, (*outer, rows, size), constant=False)
    k = g.leaf(f32, (*outer, keys, size), constant=False)
    v = g.leaf(f32, (*outer, keys, size), constant=False)
    if g.chance(0.3):
        q = g.add("Mul", [q, number(g, 1 / np.sqrt(max(size, 1)))])
    turned = [*range(len(outer)), len(outer) + 1, len(outer)]
    scores = g.add("MatMul", [q, g.add("Transpose", [k], perm=turned)])
    if g.chance(0.5):
        scores = g.add(g.choice(["Mul", "Div"]), [scores, number(g, np.sqrt(max(size, 1)))])
    if g.chance(0.5):
        scores = g.add("Add", [scores, g.leaf(f32, g.choice([(rows, keys), (1, keys), (batch, 1, rows, keys)]))])
    last = len(g.a(scores).shape) - 1
    weights = g.add("Softmax", [scores], axis=-1 if g.opset >= 11 else last)
    y = g.add("MatMul", [weights, v])
    if len(outer) == 2 and g.chance(0.6):
        y = g.add("Transpose", [y], perm=[0, 2, 1, 3])
        g.add("Reshape", [y, g.host([batch, rows, heads * size])])


def layer_norm(g):
    x = g.pick([f32], 1, 4)
    axis = [-1] if g.opset >= 11 else [g.a(x).ndim - 1]
    if 0 in g.a(x).shape:
        raise Refused("the mean of nothing")
    centre = g.add("Sub", [x, axes_form(g, "ReduceMean", x, axis, 18, keepdims=1)])
    way = g.n(0, 3)
    square = g.add("Mul", [centre, centre]) if way == 0 else g.add("Pow", [centre, number(g, 2)])
    variance = axes_form(g, "ReduceMean", square, axis, 18, keepdims=1)
    root = g.add("Sqrt", [g.add("Add", [variance, number(g, g.choice([1e-3, 1e-2, 0.1]))])])
    y = g.add("Div", [centre, root])
    if g.chance(0.7):
        y = g.add("Mul", [y, g.leaf(f32, g.a(x).shape[-1:])])
        if g.chance(0.7):
            g.add("Add", [y, g.leaf(f32, g.a(x).shape[-1:])])


def normalized(g, x):
    channels = g.a(x).shape[1]
    parts = [g.constant(g.array(f32, (channels,))) for _ in range(3)]
    return g.add("BatchNormalization", [x, *parts, g.constant(np.abs(g.array(f32, (channels,))) + np.float32(0.1))])


def network(g):
    """Convolutions with what mostly follows them, with channels first or last."""
    x = image(g, [f32])
    rank = g.a(x).ndim
    is_last = g.chance(0.3)
    first = x
    for _ in range(g.n(1, 4)):
        if is_last:
            x = g.add("Transpose", [x], perm=[0, rank - 1, *range(1, rank - 1)])
        if g.chance(0.2):
            pads = [0, 0, *[g.n(0, 2) for _ in range(rank - 2)]] * 2
            x = g.add("Pad", [x, g.host(pads)]) if g.opset >= 11 else g.add("Pad", [x], pads=pads)
        x = conv(g, x)
        if g.chance(0.4):
            x = normalized(g, x)
        if is_last:
            x = g.add("Transpose", [x], perm=[0, *range(2, rank), 1])
        x = activation(g, x)
        if g.chance(0.3) and g.a(x).shape == g.a(first).shape:
            x = activation(g, g.add("Add", [x, first]))
        if g.chance(0.2) and g.a(x).shape == g.a(first).shape:
            x = g.add("Concat", [x, first], axis=1)
    if g.chance(0.2):
        x = g.add("GlobalAveragePool", [x])
        g.add("Mul", [first, g.add("Sigmoid", [x])])


def products(g):
    """Several products of one value, and what mostly follows them."""
    x = g.pick([f32], 2, 4)
    k = g.a(x).shape[-1]
    results = []
    for _ in range(g.n(1, 4)):
        n = g.choice(g.sizes)
        y = g.add("MatMul", [x, g.constant(g.array(f32, (k, n)))])
        if g.chance(0.7):
            y = g.add("Add", [y, g.constant(g.array(f32, (n,)))])
        results.append(activation(g, y))
    if len(results) > 1 and g.a(results[0]).shape == g.a(results[1]).shape:
        g.add(g.choice(["Mul", "Add", "Sub"]), results[:2])


def lookup(g):
    """A table that is read by a product with rows of one 1."""
    depth, size = g.n(1, 6), g.choice(g.sizes)
    at = g.input(g.random.integers(0, depth, g.shape(1, 2)).astype(np.int64))
    hot = g.add("OneHot", [at, g.constant(np.int64(depth)), g.constant(np.array([0, 1], np.float32))], axis=-1)
    activation(g, g.add("MatMul", [hot, g.constant(g.array(f32, (depth, size)))]))


def separable(g):
    """A depthwise convolution and a pointwise one."""
    x = g.leaf(f32, (g.choice(g.sizes), g.choice([8, 16, 5, 24]), g.n(3, 9), g.n(3, 9)), constant=False)
    channels = g.a(x).shape[1]
    k = g.choice([1, 3, 3, 5])
    more = dict(pads=[k // 2] * 4, strides=[g.n(1, 3)] * 2, group=channels)
    x = g.add("Conv", [x, g.constant(g.array(f32, (channels, 1, k, k)))], **more)
    x = activation(g, normalized(g, x) if g.chance(0.5) else x)
    x = g.add("Conv", [x, g.constant(g.array(f32, (g.choice([4, 8, 16, 7]), channels, 1, 1)))])
    activation(g, x)


kinds = {attention: 3, layer_norm: 3, network: 8, products: 4, lookup: 2, separable: 4}
