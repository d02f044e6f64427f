"""Random nodes: pointwise ops, shapes, indices and reductions. Each function adds a node, or some, to a graph."""

import numpy as np
from onnx.helper import np_dtype_to_tensor_dtype as type_number
from onnx_graph import Refused, boolean, f16, f32, floats, i32, i64, u8, wholes

anything = [*floats, *wholes, boolean]
numbers = [*floats, *wholes]
unary_names = """Abs Neg Exp Log Sqrt Reciprocal Floor Ceil Round Sign Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh
    Asinh Acosh Atanh Sigmoid Relu LeakyRelu Elu Selu Celu Softplus Softsign HardSigmoid HardSwish ThresholdedRelu
    Shrink Mish Gelu Identity IsNaN IsInf Dropout""".split()
of_alpha = "LeakyRelu Elu Celu HardSigmoid ThresholdedRelu".split()


def unary(g):
    op = g.choice(unary_names)
    x = g.pick([f32, f32, f16] if op not in ("Abs", "Neg", "Sign", "Identity", "Relu") else numbers)
    more = {}
    if op in of_alpha and g.chance(0.7):
        more["alpha"] = float(g.random.uniform(0.05, 1.5))
    if op == "Shrink" and g.chance(0.7):
        more = dict(lambd=float(g.random.uniform(0, 1)), bias=float(g.random.uniform(-1, 1)))
    if op == "Gelu" and g.chance(0.5):
        more["approximate"] = "tanh"
    if op == "IsInf" and g.chance(0.5):
        more = dict(detect_negative=g.n(0, 2), detect_positive=g.n(0, 2))
    g.add(op, [x], **more)


def binary(g):
    op = g.choice("Add Sub Mul Div Pow PRelu Mod".split())
    x = g.pick(numbers)
    dtype = g.a(x).dtype
    y = g.beside(x)
    if op in ("Div", "Mod") and dtype not in floats:
        y = g.constant(
            np.maximum(g.array(dtype, g.broadcasting(g.a(x).shape)), 1) * g.choice([1, 1, -1 if dtype != u8 else 1])
        )
        y = y if g.a(y).dtype == dtype else g.constant(g.a(y).astype(dtype))
    more = dict(fmod=1) if op == "Mod" and (dtype in floats or g.chance(0.3)) else {}
    if op == "Pow" and dtype not in floats:
        y = g.constant(np.abs(g.array(i32, g.broadcasting(g.a(x).shape))).astype(dtype) % 4)
    swapped = g.chance(0.4) and not (op in ("Div", "Mod", "Pow") and dtype not in floats) and op != "PRelu"
    g.add(op, [y, x] if swapped else [x, y], **more)


def variadic(g):
    x = g.pick([f32, f16, f32, i32, i64])
    op = g.choice(["Max", "Min", "Sum", "Mean"])
    others = [g.beside(x) for _ in range(g.n(0, 3))]
    g.add(op, [x, *others])


def compare(g):
    op = g.choice("Equal Greater Less GreaterOrEqual LessOrEqual".split())
    x = g.pick(numbers)
    g.add(op, [x, g.beside(x)])


def logic(g):
    x = g.pick(boolean)
    if g.chance(0.3):
        g.add("Not", [x])
    else:
        g.add(g.choice(["And", "Or", "Xor"]), [x, g.beside(x)])


def bits(g):
    x = g.pick([i32, i64, u8])
    if g.chance(0.3) and g.a(x).dtype == u8:
        shift = g.constant(g.array(u8, g.broadcasting(g.a(x).shape)) % 9)
        g.add("BitShift", [x, shift], direction=g.choice(["LEFT", "RIGHT"]))
    elif g.chance(0.2):
        g.add("BitwiseNot", [x])
    else:
        g.add(g.choice(["BitwiseAnd", "BitwiseOr", "BitwiseXor"]), [x, g.beside(x)])


def where(g):
    x = g.pick([f32, f16, i64, i32, u8])
    g.add("Where", [g.beside(x, boolean), x, g.beside(x)])


def clip(g):
    x = g.pick([f32, f16, i32, i64, u8] if g.opset >= 12 else [f32])
    dtype = g.a(x).dtype
    low, high = sorted(g.array(dtype, 2))
    if g.opset < 11:
        return g.add("Clip", [x], min=float(low) if g.chance(0.7) else None, max=float(high) if g.chance(0.7) else None)
    ends = [g.leaf(dtype, ()) if g.chance(0.2) else g.constant(e) if g.chance(0.8) else "" for e in (low, high)]
    return g.add("Clip", [x, *ends])


def cast(g):
    x = g.pick(anything)
    to = g.choice(anything if not g.has_specials else [f32, boolean])  # The others are for small numbers alone.
    if g.a(x).dtype in floats and to == u8:
        x = g.add("Abs", [x])
    if g.chance(0.2):
        return g.add("CastLike", [x, g.pick(to)])
    return g.add("Cast", [x], to=int(type_number(to)))


# Shapes


def divided(g, count):
    """Sizes whose product is the count."""
    sizes = []
    while count > 1 and len(sizes) < 4:
        factors = [k for k in range(1, count + 1) if count % k == 0]
        sizes.append(g.choice(factors))
        count //= sizes[-1]
    if count != 1 or g.chance(0.2):
        sizes.insert(g.n(0, len(sizes) + 1), count)
    return sizes


def reshape(g):
    x = g.pick(anything)
    shape = g.a(x).shape
    sizes = divided(g, g.a(x).size)
    if shape and g.chance(0.5):
        kept = g.n(0, len(shape)) if g.a(x).size else 0
        sizes = [*shape[:kept], *divided(g, int(np.prod(shape[kept:])))]
        sizes = [0 if k < kept and g.chance(0.5) else size for k, size in enumerate(sizes)]
    if sizes and g.chance(0.6):
        sizes[g.n(0, len(sizes))] = -1
    more = dict(allowzero=1) if g.opset >= 14 and g.chance(0.15) else {}
    g.add("Reshape", [x, g.host(sizes)], **more)


def axes_form(g, op, x, axes, since, **more):
    """A node whose axes are an attribute before a version, and an input from there on."""
    if g.opset >= since:
        return g.add(op, [x, g.host(axes)] if axes is not None else [x], **more)
    return g.add(op, [x], axes=axes, **more)


def signed(g, axis, rank):
    return axis - rank if g.chance(0.3) else axis


def squeeze(g):
    x = g.pick(anything, 0, 5)
    rank = g.a(x).ndim
    ones = [k for k, size in enumerate(g.a(x).shape) if size == 1]
    if ones and g.chance(0.6):
        axes = None if g.chance(0.3) else [signed(g, k, rank) for k in g.subset(ones, 1)]
        return axes_form(g, "Squeeze", x, axes, 13)
    count = g.n(1, 3)
    axes = [signed(g, int(k), rank + count) for k in g.random.permutation(rank + count)[:count]]
    return axes_form(g, "Unsqueeze", x, axes, 13)


def transpose(g):
    x = g.pick(anything, 1, 5)
    perm = [int(k) for k in g.random.permutation(g.a(x).ndim)]
    g.add("Transpose", [x], perm=perm if g.chance(0.85) else None)


def expand(g):
    x = g.pick(anything)
    sizes = [g.choice(g.sizes) if size == 1 else g.choice([1, size]) for size in g.a(x).shape]
    sizes = sizes[g.n(0, len(sizes) + 1) if g.chance(0.2) else 0 :]
    if g.chance(0.3):
        sizes.insert(0, g.choice(g.sizes))
    g.add("Expand", [x, g.host(sizes)])


def flatten(g):
    x = g.pick(anything)
    rank = g.a(x).ndim
    g.add("Flatten", [x], axis=g.n(-rank if g.opset >= 11 else 0, rank + 1) if g.chance(0.8) else None)


def concat(g):
    x = g.pick(anything, 1)
    shape = list(g.a(x).shape)
    axis = g.n(0, len(shape))
    dtype = g.a(x).dtype
    others = [
        n
        for n, v in g.values.items()
        if v.dtype == dtype
        and v.ndim == len(shape)
        and n not in g.hosts
        and all(a == b for k, (a, b) in enumerate(zip(v.shape, shape)) if k != axis)
    ]
    parts = [x]
    for _ in range(g.n(0, 3)):
        part = [*shape[:axis], g.choice([0, 1, *g.sizes]), *shape[axis + 1 :]]
        parts.append(g.choice(others) if g.chance(0.6) else g.leaf(dtype, tuple(part)))
    g.random.shuffle(parts)
    g.add("Concat", parts, axis=signed(g, axis, len(shape)) if g.opset >= 11 else axis)


def split(g):
    x = g.pick(anything, 1)
    rank, axis = g.a(x).ndim, g.n(0, g.a(x).ndim)
    size = g.a(x).shape[axis]
    count = g.n(1, min(size, 4) + 1) if size else 1
    cuts = sorted(g.n(0, size + 1) for _ in range(count - 1))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, size])]
    axis = signed(g, axis, rank) if g.opset >= 11 else axis
    if g.chance(0.4) and (size % count == 0 or g.opset >= 18):
        return g.add("Split", [x], count, axis=axis, num_outputs=count if g.opset >= 18 else None)
    if g.opset >= 13:
        return g.add("Split", [x, g.host(sizes)], count, axis=axis)
    return g.add("Split", [x], count, axis=axis, split=sizes)


def slice_(g):
    x = g.pick(anything, 1)
    rank = g.a(x).ndim
    axes = g.subset(range(rank), 1)
    starts, ends, steps = [], [], []
    for axis in axes:
        size = g.a(x).shape[axis]
        step = g.choice([1, 1, 1, 2, 3, -1, -1, -2]) if g.opset >= 10 else 1
        ends_of = (
            [g.n(-size - 2, size + 3), 2**31 - 1, -(2**31), 2**63 - 1]
            if step > 0
            else [g.n(-size - 2, size + 3), -(2**31), -(2**63)]
        )
        starts.append(g.n(-size - 1, size + 2) if step > 0 or g.chance(0.5) else g.choice([-1, size - 1, size + 5]))
        ends.append(g.choice([*ends_of, ends_of[0], ends_of[0]]))
        steps.append(step)
    if g.opset < 10:
        return g.add("Slice", [x], axes=axes, starts=starts, ends=ends)
    axes = [signed(g, k, rank) for k in axes]
    dtype = g.choice([i64, i64, i64, i32]) if max(map(abs, ends)) < 2**31 else i64
    # ONNX Runtime takes the largest end with a negative step for the smallest one, so these do not change places.
    is_large = max(map(abs, ends)) > 100
    host = (lambda of, dtype: g.constant(np.array(of, dtype))) if is_large else g.host
    inputs = [x, g.host(starts, dtype), host(ends, dtype)]
    if axes != list(range(len(axes))) or any(s != 1 for s in steps) or g.chance(0.5):
        inputs.append(host(axes, dtype))
        if any(s != 1 for s in steps) or g.chance(0.3):
            inputs.append(host(steps, dtype))
    return g.add("Slice", inputs)


def pad(g):
    x = g.pick([f32, f32, f16, i32, i64, boolean, u8] if g.opset >= 11 else [f32], 1)
    rank = g.a(x).ndim
    mode = g.choice(["constant", "constant", "reflect", "edge", *(["wrap"] if g.opset >= 19 else [])])
    axes = list(range(rank))
    if g.opset >= 18 and g.chance(0.4):
        axes = g.subset(axes, 1)
    low = -2 if mode == "constant" or g.chance(0.1) else 0
    high = [4 if mode != "reflect" else max(min(3, g.a(x).shape[k]), 1) for k in axes]
    pads = [g.n(low, h) if g.chance(0.7) else 0 for h in high + high]
    mode = mode if mode != "constant" or g.chance(0.5) else None
    value = g.array(g.a(x).dtype, ()) if g.chance(0.6) else None
    if g.opset < 11:
        return g.add("Pad", [x], mode=mode, pads=pads, value=None if value is None else float(value))
    inputs = [x, g.host(pads), "" if value is None else g.constant(value)]
    if len(axes) < rank or axes != list(range(rank)):
        inputs.append(g.host([signed(g, k, rank) for k in axes]))
    return g.add("Pad", inputs, mode=mode)


def tile(g):
    x = g.pick([f32, f16, i32, i64, boolean, u8])
    g.add("Tile", [x, g.host([g.choice([1, 1, 2, 3, 0]) for _ in g.a(x).shape])])


def shape_of(g):
    x = g.pick(anything, 0, 5)
    rank = g.a(x).ndim
    if g.chance(0.2):
        g.hosts.add(g.add("Size", [x]))
        return
    more = {}
    if g.opset >= 15:
        more = {key: g.n(-rank - 1, rank + 2) for key in ("start", "end") if g.chance(0.4)}
    y = g.add("Shape", [x], **more)
    if g.chance(0.5):
        g.hosts.add(y)


def host_numbers(g):
    """Sums, choices and comparisons of numbers that come from shapes."""
    x = g.pick(anything, 1)
    shape = list(g.a(x).shape)
    y = g.add("Shape", [x])
    g.hosts.add(y)
    for _ in range(g.n(1, 4)):
        other = g.constant(np.array(g.array(i64, g.choice([(), (1,), (len(shape),)]))))
        way = g.n(0, 7)
        if way < 2:
            y = g.add(g.choice(["Add", "Sub", "Mul", "Max", "Min"]), [y, other])
        elif way == 2:
            y = g.add(g.choice(["Div", "Mod"]), [y, g.constant(np.int64(g.choice([1, 2, 3, -2])))])
        elif way == 3:
            condition = g.add(g.choice(["Greater", "Less", "Equal"]), [y, other])
            g.hosts.add(condition)
            y = g.add("Where", [condition, y, other])
        elif way == 4:
            y = axes_form(g, "ReduceProd", y, [0], 18, keepdims=g.n(0, 2))
        elif way == 5:
            y = g.add("Cast", [g.add("Cast", [y], to=int(type_number(f32)))], to=int(type_number(i64)))
        else:
            y = g.add(
                "Concat",
                [
                    y if g.a(y).ndim else g.add("Reshape", [y, g.constant(np.array([1]))]),
                    g.constant(g.array(i64, (1,))),
                ],
                axis=0,
            )
        g.hosts.add(y)
    numbers_of_y = g.a(y)
    if numbers_of_y.ndim == 0 and g.opset >= 11 and g.chance(0.5):
        g.add("Range", [g.constant(np.int64(0)), g.add("Abs", [y]), g.constant(np.int64(g.n(1, 3)))])
    elif numbers_of_y.ndim == 1 and (numbers_of_y >= 0).all() and g.chance(0.7):
        g.add("ConstantOfShape", [y], value=value_tensor(g))
    else:
        g.hosts.discard(y)


def value_tensor(g):
    from onnx import numpy_helper

    return numpy_helper.from_array(g.array(g.choice(anything), (1,))) if g.chance(0.8) else None


def made(g):
    way = g.n(0, 3)
    if way == 0:
        g.add("ConstantOfShape", [g.host(g.shape())], value=value_tensor(g))
    elif way == 1:
        dtype = g.choice([f32, i32, i64])
        start, limit, step = (g.array(dtype, ()) for _ in range(3))
        if step == 0 or abs((float(limit) - float(start)) / float(step)) > 50:
            raise Refused("long")
        g.add("Range", [g.constant(v) if g.chance(0.6) else g.input(v) for v in (start, limit, step)])
    else:
        x = g.pick([f32, i32, i64], 2, 2)
        g.add("EyeLike", [x], k=g.n(-2, 3), dtype=g.choice([None, int(type_number(i64)), int(type_number(f32))]))


# Reductions


def reduce(g):
    op = g.choice("L1 L2 LogSum LogSumExp Max Min Mean Prod Sum SumSquare".split())
    x = g.pick([f32, f32, f16] if op in ("Mean", "LogSumExp") else [f32, f32, f16, i32, i64], 0, 4)
    if op == "Mean" and 0 in g.a(x).shape:  # ONNX leaves it open.
        raise Refused("the mean of nothing")
    rank = g.a(x).ndim
    since = 13 if op == "Sum" else 18
    if op == "LogSum":
        x = g.add("Abs", [x])
    axes = [signed(g, k, rank) if g.opset >= 11 else k for k in g.subset(range(rank), 0)] if g.chance(0.8) else None
    if axes == [] and g.opset < since:
        axes = None
    more = dict(noop_with_empty_axes=1) if g.opset >= since and g.chance(0.15) else {}
    axes_form(g, f"Reduce{op}", x, axes, since, keepdims=g.choice([0, 1, None]), **more)


def arg(g):
    x = g.pick([f32, f16, i32, u8], 1)
    if 0 in g.a(x).shape:  # ONNX Runtime gives the shape of x, also where keepdims is 0.
        raise Refused("the place of no element")
    rank = g.a(x).ndim
    more = dict(select_last_index=g.n(0, 2)) if g.opset >= 12 and g.chance(0.4) else {}
    axis = signed(g, g.n(0, rank), rank) if g.opset >= 11 else g.n(0, rank)
    g.add(g.choice(["ArgMax", "ArgMin"]), [x], axis=axis, keepdims=g.n(0, 2), **more)


def topk(g):
    x = g.pick([f32, f32, i64, i32], 1)
    rank, axis = g.a(x).ndim, g.n(0, g.a(x).ndim)
    k = g.n(0, g.a(x).shape[axis] + 1)
    more = dict(largest=g.n(0, 2)) if g.opset >= 11 and g.chance(0.5) else {}
    g.add("TopK", [x, g.host([k])], 2, axis=signed(g, axis, rank) if g.opset >= 11 else axis, **more)


def scan_axis(g):
    if g.chance(0.5):
        x = g.pick([f32, i32, i64], 1)
        rank = g.a(x).ndim
        axis = g.constant(np.array(g.n(-rank, rank), g.choice([np.int32, np.int64])))
        return g.add("CumSum", [x, axis], exclusive=g.n(0, 2), reverse=g.n(0, 2))
    x = g.pick([f32, i64, boolean, i32], 2)
    k = [g.constant(np.int64(g.n(-4, 5)))] if g.chance(0.6) else []
    return g.add("Trilu", [x, *k], upper=g.choice([None, 0, 1]))


def softmax(g):
    x = g.pick([f32, f32, f16], 1)
    rank = g.a(x).ndim
    axis = g.n(-rank if g.opset >= 11 else 0, rank) if g.chance(0.8) else None
    g.add(g.choice(["Softmax", "Softmax", "LogSoftmax", "Hardmax"]), [x], axis=axis)


# Indices


def indices(g, shape, size, dtype=None, has_negative=None):
    if size == 0 and np.prod(shape):
        raise Refused("no elements")
    has_negative = g.opset >= 11 if has_negative is None else has_negative
    low = -size if has_negative and g.chance(0.4) else 0
    numbers = g.random.integers(low, max(size, 1), shape).astype(dtype or g.choice([i64, i64, i32]))
    return g.constant(numbers) if g.chance(0.5) else g.input(np.asarray(numbers))


def gather(g):
    x = g.pick(anything, 1)
    shape, rank = g.a(x).shape, g.a(x).ndim
    axis = g.n(0, rank)
    if g.chance(0.5):
        at = indices(g, g.shape(0, 2), shape[axis])
        return g.add("Gather", [x, at], axis=signed(g, axis, rank) if g.chance(0.9) or axis else None)
    sizes = [g.n(0, size + 1) if k != axis else g.choice(g.sizes) for k, size in enumerate(shape)]
    return g.add("GatherElements", [x, indices(g, tuple(sizes), shape[axis])], axis=signed(g, axis, rank))


def gather_nd(g):
    x = g.pick(anything, 1)
    shape, rank = g.a(x).shape, g.a(x).ndim
    batch = g.n(0, min(rank, 3)) if g.opset >= 12 and g.chance(0.4) else 0
    depth = g.n(1, rank - batch + 1)
    at = places(g, (*shape[:batch], *g.shape(0, 2)), shape[batch : batch + depth])
    g.add("GatherND", [x, at], batch_dims=batch if batch or g.chance(0.2) else None)


def places(g, shape, sizes, is_unique=False):
    count = int(np.prod(shape))
    if 0 in sizes and count:
        raise Refused("no elements")
    at = np.stack([g.random.integers(0, max(s, 1), count) for s in sizes], -1)
    if is_unique and len({tuple(p) for p in at}) < count:
        raise Refused("twice the same place")
    if g.opset >= 12 and g.chance(0.3):
        at -= np.where(g.random.random(at.shape) < 0.5, np.array(sizes), 0)
    at = at.reshape((*shape, len(sizes))).astype(np.int64)
    return g.constant(at) if g.chance(0.7) or is_unique else g.input(at)


def scatter(g):
    x = g.pick(anything, 1)
    shape, rank, dtype = g.a(x).shape, g.a(x).ndim, g.a(x).dtype
    reduction = g.choice(["add", "mul", "max", "min"] if g.opset >= 18 else ["add", "mul"])
    more = dict(reduction=reduction) if g.opset >= 16 and g.chance(0.6) else {}
    if dtype == boolean:
        more = {}
    if g.chance(0.5):
        depth = g.n(1, rank + 1)
        outer = g.shape(0, 2)
        at = places(g, outer, shape[:depth], is_unique=not more)
        return g.add("ScatterND", [x, at, g.leaf(dtype, (*outer, *shape[depth:]))], **more)
    axis = g.n(0, rank)
    sizes = tuple(g.n(0, size + 1) for size in shape)
    if more:
        at = indices(g, sizes, shape[axis])
    else:  # Each place at most once.
        at = np.argsort(g.random.random((*sizes[:axis], shape[axis], *sizes[axis + 1 :])), axis)
        at = np.take(at, range(sizes[axis]), axis).astype(g.choice([np.int64, np.int32]))
        at = g.constant(at - shape[axis] if g.opset >= 11 and g.chance(0.3) else at)
    op = "ScatterElements" if g.opset >= 11 else "Scatter"
    return g.add(op, [x, at, g.leaf(dtype, sizes)], axis=signed(g, axis, rank), **more)


def one_hot(g):
    depth = g.n(1, 6)
    at = indices(g, g.shape(1, 2), depth, has_negative=True)
    values = g.constant(g.array(g.choice([f32, f32, i64]), (2,)))
    rank = g.a(at).ndim
    g.add(
        "OneHot",
        [at, g.constant(np.array(depth if g.chance(0.5) else [depth], np.int64)), values],
        axis=g.choice([None, g.n(-rank - 1, rank + 1)]),
    )


def chosen(g):
    x = g.pick([f32, i32, i64, boolean, u8], 0, 3)
    way = g.n(0, 4)
    if way == 0 and g.a(x).ndim:  # Of a scalar, ONNX says (0, n), and ONNX Runtime gives (1, n).
        return g.add("NonZero", [x])
    rank = g.a(x).ndim
    axis = g.n(-rank, rank) if rank and g.chance(0.7) else None
    if way == 1:
        size = g.a(x).size if axis is None else g.a(x).shape[axis]
        condition = g.leaf(boolean, (g.n(0, size + 1),))
        return g.add("Compress", [x, condition], axis=axis)
    if way == 2 and rank:
        return g.add(
            "Unique",
            [g.add("Identity", [x])],
            4,
            sorted=g.n(0, 2),
            axis=axis,
            wanted=(1, *(g.n(0, 2) for _ in range(3))),
        )
    if rank < 2:
        raise Refused("few axes")
    return g.add(
        "ReverseSequence",
        [
            g.add("Transpose", [x], perm=[*range(rank)]),
            g.constant(g.random.integers(0, g.a(x).shape[0] + 1, g.a(x).shape[1]).astype(np.int64)),
        ],
        time_axis=0,
        batch_axis=1,
    )


kinds = {
    unary: 9, binary: 8, variadic: 3, compare: 2, logic: 1, bits: 1, where: 3, clip: 2, cast: 4,
    reshape: 5, squeeze: 3, transpose: 4, expand: 3, flatten: 1, concat: 3, split: 2, slice_: 5, pad: 4, tile: 2,
    shape_of: 1, host_numbers: 3, made: 2,
    reduce: 5, arg: 2, topk: 2, scan_axis: 3, softmax: 3,
    gather: 4, gather_nd: 2, scatter: 4, one_hot: 1, chosen: 3,
}  # fmt: skip
