"""A random graph of ONNX that grows node by node. ONNX Runtime runs each node at once, so a graph has no node that it
refuses, and what comes next can be chosen by the values."""

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.helper import np_dtype_to_tensor_dtype as type_number

f32, f16, i32, i64, u8, boolean = map(np.dtype, ["f4", "f2", "i4", "i8", "u1", "?"])
floats, wholes = [f32, f16], [i32, i64, u8]
most_elements = 10000


class Refused(Exception):
    """ONNX Runtime refuses a node, or its result is not wanted."""


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise Refused(str(error)) from None


def run_session(session, inputs):
    try:
        return session.run(None, inputs)
    except Exception as error:
        raise Refused(str(error)) from None


class Model:
    """Nodes, inputs and constants, in the order in which they were made. `inputs` has the declared sizes of each."""

    def __init__(self, opset):
        self.opset, self.nodes, self.inputs, self.constants, self.outputs, self.types = opset, [], {}, {}, [], {}

    def with_parts(self, nodes, inputs, outputs):
        other = Model(self.opset)
        other.nodes, other.inputs, other.outputs, other.types = nodes, inputs, outputs, self.types
        used = {name for node in nodes for name in names_in(node)}
        other.constants = {name: array for name, array in self.constants.items() if name in used}
        return other

    def proto(self, outputs=None):
        def value(name, sizes):
            return helper.make_tensor_value_info(name, type_number(self.types[name]), sizes)

        graph = helper.make_graph(
            self.nodes,
            "fuzz",
            [value(name, sizes) for name, sizes in self.inputs.items()],
            [value(name, None) for name in outputs or self.outputs],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        versions = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=versions, ir_version=10)

    def text(self):
        return onnx.printer.to_text(self.proto())


def names_in(node):
    """All names that a node reads, in its bodies too."""
    names = set(node.input)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            made = {value.name for value in attribute.g.input} | {one.name for one in attribute.g.initializer}
            made |= {name for inner in attribute.g.node for name in inner.output}
            inside = {name for inner in attribute.g.node for name in names_in(inner)}
            names |= (inside | {value.name for value in attribute.g.output}) - made
    return names - {""}


class Graph:
    """The model so far, an array for each value, and random choices."""

    def __init__(self, random):
        self.random = random
        self.model = Model(self.n(9, 22))
        self.sizes = [int(s) for s in random.choice([1, 2, 3, 4, 5, 6, 8], 3)]
        if self.chance(0.06):
            self.sizes[0] = 0
        self.main_type = self.choice([f32, f32, f32, f32, f16, i32, i64])
        self.has_specials = self.chance(0.05)
        self.symbols = {size for size in self.sizes if self.chance(0.5)}
        self.values = {}
        self.hosts = set()  # Values that no node takes as elements.
        self.count = 0

    @property
    def opset(self):
        return self.model.opset

    def n(self, low, high):
        return int(self.random.integers(low, high))

    def chance(self, p):
        return bool(self.random.random() < p)

    def choice(self, of):
        return of[self.n(0, len(of))]

    def subset(self, of, least=0):
        of = list(of)
        return [of[i] for i in self.random.permutation(len(of))[: self.n(min(least, len(of)), len(of) + 1)]]

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    # Arrays

    def shape(self, low=0, high=4):
        return tuple(
            self.choice([*self.sizes, 1] if self.chance(0.3) else self.sizes) for _ in range(self.n(low, high + 1))
        )

    def array(self, dtype, shape):
        return elements(self.random, dtype, shape, self.has_specials)

    def a(self, name):
        return self.values[name]

    # Values

    def constant(self, array):
        """An initializer or a node Constant."""
        array = np.array(array)
        name = self.name("c")
        if self.chance(0.2):
            self.model.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        else:
            self.model.constants[name] = array
        return self.keep(name, array)

    def input(self, array):
        name = self.name("x")
        sizes = [f"n{size}" if size in self.symbols else size for size in array.shape]
        self.model.inputs[name] = sizes
        return self.keep(name, array)

    def keep(self, name, array):
        self.values[name] = array
        self.model.types[name] = array.dtype
        return name

    def leaf(self, dtype, shape, constant=None):
        constant = self.chance(0.4) if constant is None else constant
        return (self.constant if constant else self.input)(self.array(dtype, shape))

    def pick(self, dtype=None, low=0, high=4, where=None):
        """A value of one of these types and numbers of axes, most often one that is there."""
        types = [dtype] if isinstance(dtype, np.dtype) else list(dtype or [self.main_type])
        found = [
            name
            for name, value in self.values.items()
            if value.dtype in types
            and low <= value.ndim <= high
            and name not in self.hosts
            and name not in self.model.constants
            and (where is None or where(value))
        ]
        if found and self.chance(0.8):
            return found[-1 - min(self.n(0, len(found)), self.n(0, len(found)))]
        if where is not None:
            raise Refused("nothing fits")
        dtype = self.main_type if self.main_type in types and self.chance(0.7) else self.choice(types)
        return self.leaf(dtype, self.shape(low, high), constant=not self.chance(0.85))

    def beside(self, x, dtype=None):
        """A value that broadcasts with x, of its type."""
        dtype = dtype or self.a(x).dtype
        shape = self.a(x).shape
        fitting = [
            name
            for name, value in self.values.items()
            if value.dtype == dtype and name not in self.hosts and broadcasts(value.shape, shape)
        ]
        if fitting and self.chance(0.5):
            return self.choice(fitting)
        return self.leaf(dtype, self.broadcasting(shape))

    def broadcasting(self, shape):
        shape = shape[self.n(0, len(shape) + 1) if self.chance(0.5) else 0 :]
        shape = tuple(1 if self.chance(0.25) else size for size in shape)
        if len(shape) < 4 and self.chance(0.1):
            shape = (self.choice(self.sizes), *shape)
        return shape

    def host(self, numbers, dtype=i64):
        """A 1-D tensor of these whole numbers: a constant, an input, or numbers that come from shapes."""
        numbers = np.array(numbers, dtype).reshape(-1)
        way = self.n(0, 10)
        if way < 5 or len(numbers) == 0:
            return self.constant(numbers)
        if way < 6:
            name = self.name("s")
            self.model.inputs[name] = [len(numbers)]
            self.hosts.add(name)
            return self.keep(name, numbers)
        parts = []
        for number in numbers:
            parts.append(self.number_of_shape(int(number)))
        name = self.add("Concat", parts, axis=0) if len(parts) > 1 or self.chance(0.5) else parts[0]
        self.hosts.add(name)
        if dtype != i64:
            name = self.add("Cast", [name], to=int(type_number(dtype)))
            self.hosts.add(name)
        return name

    def number_of_shape(self, number):
        """A tensor (1,) with a number, from a shape if one has it."""
        found = [
            (name, k)
            for name, value in self.values.items()
            for k, size in enumerate(value.shape)
            if size == number and name not in self.model.constants and name not in self.hosts
        ]
        if not found or self.chance(0.4):
            return self.constant(np.array([number], np.int64))
        name, axis = self.choice(found)
        shape = self.add("Shape", [name])
        self.hosts.add(shape)
        if self.chance(0.5):
            got = self.add("Gather", [shape, self.constant(np.array([axis], np.int64))], axis=0)
        elif self.opset >= 13 and self.chance(0.5):
            one = self.add("Gather", [shape, self.constant(np.int64(axis))], axis=0)
            self.hosts.add(one)
            if self.chance(0.3):
                one = self.add("Mul", [one, self.constant(np.int64(1))])
                self.hosts.add(one)
            got = self.add("Unsqueeze", [one, self.constant(np.array([0], np.int64))])
        elif self.opset >= 10:
            ends = [self.constant(np.array([k], np.int64)) for k in (axis, axis + 1)]
            got = self.add("Slice", [shape, *ends])
        else:
            got = self.add("Slice", [shape], starts=[axis], ends=[axis + 1])
        self.hosts.add(got)
        return got

    # Nodes

    def add(self, op, inputs, outputs=1, captured=(), domain="", wanted=None, **attributes):
        """Adds a node. Returns the name of its output, or names if it has several; "" for those that are left out."""
        names = [self.name("v") if wanted is None or wanted[k] else "" for k in range(outputs)]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        node = helper.make_node(op, inputs, names, domain=domain, **attributes)
        read = [name for name in dict.fromkeys([*inputs, *captured]) if name]
        own = Model(self.opset)
        own.nodes, own.types = [node], dict(self.model.types)
        own.inputs = {name: self.values[name].shape for name in read}
        kept = [name for name in names if name]
        results = run_session(session_of(untyped(own, kept)), {name: self.values[name] for name in read})
        for result in results:
            self.check(result)
        if is_overlooked(node, self.values):
            raise Refused("ONNX Runtime overlooks a part of the node")
        self.model.nodes.append(node)
        for name, result in zip(kept, results):
            self.keep(name, np.asarray(result))
        return names if outputs > 1 else names[0]

    def check(self, result):
        """Leaves out what is large, and numbers that grow or are not finite."""
        if not isinstance(result, np.ndarray) or result.dtype not in [*floats, *wholes, boolean]:
            raise Refused("another type")
        if result.size > most_elements or result.ndim > 6:
            raise Refused("too large")
        if result.dtype in floats and not self.has_specials:
            with np.errstate(all="ignore"):
                if not (np.abs(result) < 1000).all():
                    raise Refused("numbers that grow")
        if result.dtype in (i32, i64) and result.size and np.abs(result.astype(float)).max() > 1e6:
            raise Refused("numbers that grow")


def may_be_overlooked(node):
    """Whether ONNX Runtime is wrong about the node if its arrays have no elements."""
    return node.op_type == "Gemm" or node.op_type.startswith("Reduce")


def is_overlooked(node, values):
    """Whether ONNX Runtime overlooks beta, as the depth of a product is 0, or negative axes, as nothing is reduced.
    `values` has the arrays that the node reads, by their names."""
    if not may_be_overlooked(node) or values[node.input[0]].size > 0:
        return False
    attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    if node.op_type == "Gemm":
        return attributes.get("beta", 1) != 1
    axes = values[node.input[1]] if node.input[1:] and node.input[1] else attributes.get("axes", [])
    return any(axis < 0 for axis in axes)


def untyped(model, outputs):
    """The model with outputs whose types ONNX Runtime finds."""
    graph = helper.make_graph(
        model.nodes,
        "fuzz",
        [
            helper.make_tensor_value_info(name, type_number(model.types[name]), sizes)
            for name, sizes in model.inputs.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", model.opset)], ir_version=10)


def broadcasts(a, b):
    return all(x == y or x == 1 or y == 1 for x, y in zip(a[::-1], b[::-1]))


def elements(random, dtype, shape, has_specials=False):
    if dtype == boolean:
        return random.random(shape) < 0.5
    if dtype in floats:
        values = random.uniform(-2, 2, shape)
        if random.random() < 0.3:
            values = np.round(values * 2) / 2
        if has_specials:
            chosen = random.choice([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 65504, -1e30], shape)
            values = np.where(random.random(shape) < 0.15, chosen, values)
        with np.errstate(all="ignore"):
            return np.asarray(values).astype(dtype)
    low, high = (0, 200) if dtype == u8 else (-9, 10)
    return np.asarray(random.integers(low, high, shape)).astype(dtype)


def other_elements(random, array, shape, has_specials):
    """New numbers for another run. Whole numbers are those of before in another order, since they may be indices."""
    if array.dtype in floats or array.dtype == boolean:
        return elements(random, array.dtype, shape, has_specials)
    if array.size == 0:
        return np.zeros(shape, array.dtype)
    return random.choice(array.reshape(-1), shape).astype(array.dtype)
