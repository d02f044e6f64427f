"""Random nodes of rarer ops: cutting, windows, boxes, whole-number products and sequences."""

import numpy as np
from onnx_graph import Refused, f16, f32, i64, u8
from onnx_network import window
from onnx_nodes import signed


def crop(g):
    x = g.pick([f32, f16, i64], 1)
    rank = g.a(x).ndim
    axes = g.subset(range(rank), 1)
    sizes = [g.n(1, 7) for _ in axes]
    g.add("CenterCropPad", [x, g.host(sizes)], axes=[signed(g, k, rank) for k in axes])


def columns(g):
    kernel = [g.n(1, 4), g.n(1, 4)]
    size = [g.n(4, 8), g.n(4, 8)]
    more = dict(strides=[g.n(1, 3), g.n(1, 3)], dilations=[g.n(1, 3), g.n(1, 3)], pads=[g.n(0, 2) for _ in range(4)])
    count = 1
    for k in range(2):
        whole = size[k] + more["pads"][k] + more["pads"][k + 2] - more["dilations"][k] * (kernel[k] - 1) - 1
        if whole < 0:
            raise Refused("small")
        count *= whole // more["strides"][k] + 1
    x = g.leaf(f32, (g.choice(g.sizes), g.n(1, 3) * kernel[0] * kernel[1], count))
    g.add("Col2Im", [x, g.host(size), g.host(kernel)], **more)


def boxes(g):
    x = g.pick([f32], 4, 4)
    if 0 in g.a(x).shape:
        raise Refused("no elements")
    batch, _, height, width = g.a(x).shape
    count = g.n(1, 4)
    corners = g.random.uniform(-1, 1, (count, 4)) + np.array([0, 0, width, height])
    regions = g.constant(corners.astype(np.float32))
    rows = g.constant(g.random.integers(0, batch, count).astype(np.int64))
    more = dict(coordinate_transformation_mode=g.choice(["half_pixel", "output_half_pixel"])) if g.opset >= 16 else {}
    # In the mode max, ONNX Runtime does not interpolate.
    g.add("RoiAlign", [x, regions, rows], mode="avg", output_height=g.n(1, 4), output_width=g.n(1, 4),
          sampling_ratio=g.n(0, 3), spatial_scale=g.choice([1.0, 0.5]), **more)  # fmt: skip


def suppression(g):
    batch, classes, count = g.n(1, 3), g.n(1, 3), g.n(1, 8)
    corners = np.sort(g.random.uniform(0, 1, (batch, count, 2, 2)), 2).reshape(batch, count, 4)
    most = g.constant(np.int64(g.n(0, 5)))
    limits = [g.constant(np.float32(g.random.uniform(0, 1))) for _ in range(2)]
    scores = g.input(g.random.uniform(0, 1, (batch, classes, count)).astype(np.float32))
    g.add("NonMaxSuppression", [g.constant(corners.astype(np.float32)), scores, most, *limits],
          center_point_box=g.n(0, 2))  # fmt: skip


def matrix(g):
    way = g.n(0, 3)
    if way == 0:
        n = g.n(1, 5)
        return g.add("Det", [g.leaf(f32, (*g.shape(0, 2), n, n), constant=False)])
    if way == 1:
        theta = g.leaf(f32, (g.choice(g.sizes), 2, 3), constant=False)
        # With corners, ONNX Runtime and ONNX's reference differ about an axis of size 1.
        aligned = g.n(0, 2)
        sizes = g.constant(np.array([g.a(theta).shape[0], 1, g.n(1 + aligned, 5), g.n(1 + aligned, 5)]))
        return g.add("AffineGrid", [theta, sizes], align_corners=aligned)
    x = g.pick([f32], 2, 3)
    x = g.add("Unsqueeze", [x, g.constant(np.array([g.a(x).ndim]))]) if g.opset >= 13 else x
    more = dict(onesided=g.n(0, 2)) if g.chance(0.3) else {}
    if g.opset >= 20:
        result = g.add("DFT", [x, "", g.constant(np.int64(1))], **more)
    else:
        result = g.add("DFT", [x], axis=1, **more)
    # Whether one of its numbers is 0 depends on rounding.
    g.hosts.add(result)
    return result


def whole_products(g):
    """Convolutions and products of u8."""
    size = tuple(g.n(2, 7) for _ in range(2))
    channels, group = g.choice([(1, 1), (2, 1), (4, 2), (3, 3)])
    x = g.leaf(u8, (g.choice(g.sizes), channels, *size), constant=False)
    if 0 in g.a(x).shape:
        raise Refused("no elements")
    more = window(g, size)
    outputs = group * g.n(1, 3)
    weight = g.constant(g.array(u8, (outputs, channels // group, *more["kernel_shape"])))
    if g.chance(0.5):
        zeros = [g.constant(np.uint8(g.n(0, 200))) for _ in range(g.n(0, 3))]
        return g.add("ConvInteger", [x, weight, *zeros], group=group, **more)
    scales = [g.constant(np.float32(s)) for s in g.random.uniform(0.005, 0.05, 3)]
    zeros = [g.constant(np.uint8(g.n(0, 200))) for _ in range(3)]
    inputs = [x, scales[0], zeros[0], weight, scales[1], zeros[1], scales[2], zeros[2]]
    if g.chance(0.4):
        inputs.append(g.constant(g.random.integers(-900, 900, outputs).astype(np.int32)))
    return g.add("QLinearConv", inputs, group=group, **more)


kinds = {crop: 1, columns: 1, boxes: 1, suppression: 1, matrix: 3, whole_products: 3}
