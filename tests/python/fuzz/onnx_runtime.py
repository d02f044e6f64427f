"""ONNX Runtime's part of random models: it makes them, and says what they give. It runs in a process of its own, which
some models end: onnx_models.py starts it again."""

import os
import pickle
import sys

import numpy as np
import onnx
import onnx_more
import onnx_network
import onnx_nodes
import onnx_patterns
import onnxruntime
from onnx import helper
from onnx_graph import (
    Graph,
    Refused,
    f16,
    floats,
    is_overlooked,
    may_be_overlooked,
    names_in,
    other_elements,
    run_session,
    session_of,
)

kinds = {**onnx_nodes.kinds, **onnx_network.kinds, **onnx_patterns.kinds, **onnx_more.kinds}
chances = np.cumsum([*kinds.values()]) / sum(kinds.values())
# ONNX Runtime overlooks NaN and infinities in the others.
of_specials = [
    getattr(onnx_nodes, name)
    for name in """unary binary compare where cast reshape squeeze transpose expand
    concat split slice_ pad tile gather gather_nd""".split()
]
# ONNX Runtime ends the process in these without elements, or gives another shape. ONNX leaves open what a mean of
# nothing is.
no_0 = ["Scan", "LSTM", "GRU", "RNN", "Einsum", "ReduceMean", "ArgMax", "ArgMin"]
# In these it overlooks what is not a number.
overlooking = """LSTM GRU RNN MaxPool GlobalMaxPool ArgMax ArgMin TopK Clip ReduceMax ReduceMin Unique""".split()
# These give their inputs' elements, or whole numbers: no program rounds.
exact = """Constant Identity Reshape Transpose Squeeze Unsqueeze Expand Flatten Concat Split Slice Pad Tile Gather
    GatherND GatherElements Where Trilu Cast CastLike Floor Ceil Round Sign Abs Neg Relu Max Min Clip ConstantOfShape
    Range EyeLike OneHot Compress ReverseSequence DepthToSpace SpaceToDepth CenterCropPad ReduceMax ReduceMin MaxPool
    GlobalMaxPool TopK Unique Hardmax Dropout""".split()
# A whole number may then be 1 beside the other: the numbers before may be equal only in one program, as tanh(9) and 1.
rounding = ["Cast", "CastLike", "QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv"]


def make(random):
    """A model and the arrays of its inputs, a list of sets."""
    graph = Graph(random)
    wanted, tries = graph.n(1, 12), 0
    while len([n for n in graph.model.nodes if n.op_type != "Constant"]) < wanted and tries < 60:
        tries += 1
        before = set(graph.values)
        try:
            kind = [*kinds][int(np.searchsorted(chances, random.random()))]
            if not graph.has_specials or kind in of_specials:
                kind(graph)
        except (Refused, ValueError):
            pass
        graph.hosts |= {name for name in graph.values if name not in before and name.startswith("s")}
    model = graph.model
    made = [name for node in model.nodes for name in node.output if name and node.op_type != "Constant"]
    read = {name for node in model.nodes for name in names_in(node)}
    model.outputs = [name for name in made if name not in read or graph.chance(0.3)]
    if not model.outputs:
        return None
    inputs = {name: graph.values[name] for name in model.inputs}
    return part(model, [inputs, *more_sets(graph, inputs)], model.outputs)


def more_sets(graph, inputs):
    """New numbers in the same sizes, and in other sizes where the model leaves them open. Whole numbers that may be
    sizes mostly stay."""
    random, hosts = graph.random, graph.hosts
    has_no_0 = any(node.op_type in no_0 for node in graph.model.nodes)
    for changes in (False, True, True) if graph.symbols else (False,):
        sizes = {}
        for size in graph.symbols if changes else ():
            sizes[size] = int(random.choice([1, 2, 3, size + 1, 5, 0 if graph.chance(0.3) and not has_no_0 else 7]))
        others = {}
        for name, array in inputs.items():
            shape = tuple(sizes.get(size, size) if name not in hosts else size for size in array.shape)
            keeps = name in hosts and graph.chance(0.8)
            others[name] = array if keeps else other_elements(random, array, shape, graph.has_specials)
        yield others


def ancestors(model, outputs):
    """The model with the nodes that these outputs need."""
    wanted, nodes = set(outputs), []
    for node in reversed(model.nodes):
        if wanted & set(node.output):
            nodes.insert(0, node)
            wanted |= names_in(node)
    inputs = {name: sizes for name, sizes in model.inputs.items() if name in wanted}
    return model.with_parts(nodes, inputs, list(outputs))


def noisy(model, epsilon):
    """A model in which each number of the inputs and of each node that rounds goes a little away."""
    proto = model.proto()
    graph, nodes = proto.graph, []

    def move_all(name, to):  # Also a number that is 0 but for rounding, by a part of the largest one.
        nodes.append(helper.make_node("Abs", [to], [f"{name} size"]))
        nodes.append(helper.make_node("ReduceMax", [f"{name} size"], [f"{name} largest"]))
        nodes.append(helper.make_node("RandomUniformLike", [to], [f"{name} part"], low=-epsilon, high=epsilon))
        nodes.append(helper.make_node("Mul", [f"{name} part", f"{name} largest"], [f"{name} step"]))
        nodes.append(helper.make_node("Add", [to, f"{name} step"], [name]))

    def move(name, to):
        half = model.types[name] == f16
        source = f"{name} wide" if half else to
        if half:
            nodes.append(helper.make_node("Cast", [to], [source], to=onnx.TensorProto.FLOAT))
        ends = dict(low=1 - epsilon, high=1 + epsilon)
        nodes.append(helper.make_node("RandomUniformLike", [source], [f"{name} factor"], **ends))
        nodes.append(helper.make_node("Mul", [source, f"{name} factor"], [f"{name} moved" if half else name]))
        if half:
            nodes.append(helper.make_node("Cast", [f"{name} moved"], [name], to=onnx.TensorProto.FLOAT16))

    for value in graph.input:
        if model.types[value.name] in floats:
            name, value.name = value.name, f"{value.name} exact"
            move(name, value.name)
    for node in [*graph.node]:
        nodes.append(node)
        for k, name in enumerate(node.output) if node.op_type not in exact else ():
            if name and model.types[name] in floats:
                node.output[k] = f"{name} exact"
                (move_all if node.op_type == "DFT" else move)(name, f"{name} exact")
    del graph.node[:]
    graph.node.extend(nodes)
    return proto


def expectations(model, sets, runs):
    """Of each set of inputs: results of ONNX Runtime, and so many others of numbers that move a little. None for a set
    that it refuses."""
    onnxruntime.set_seed(1)
    overlooks = any(node.op_type in overlooking for node in model.nodes)
    careful = [node for node in model.nodes if may_be_overlooked(node)]
    wanted = list(model.outputs)
    if overlooks or careful:
        wanted += [name for node in model.nodes for name in node.output if name and name not in model.outputs]
    session = session_of(model.proto(wanted))
    count = len(model.outputs)
    is_half = f16 in model.types.values()
    is_rounded = any(node.op_type in rounding for node in model.nodes)
    moving = session_of(noisy(model, 1e-3 if is_half else 1e-6))
    expected = []
    for inputs in sets:
        try:
            with np.errstate(all="ignore"):
                results = run_session(session, inputs)
                if overlooks and any(not finite(array) for array in [*results, *inputs.values()]):
                    raise Refused("not a number")
                values = {**model.constants, **inputs, **dict(zip(wanted, results))}
                if any(is_overlooked(node, values) for node in careful):
                    raise Refused("a part of a node is overlooked")
                names = {f"{name} exact" if array.dtype in floats else name: array for name, array in inputs.items()}
                others = [run_session(moving, names) for _ in range(runs)]
        except Refused:
            expected.append(None)
            continue
        far = [[other[k] for other in others] for k in range(count)]
        expected.append((results[:count], far, is_half, is_rounded))
    return expected


def part(model, sets, outputs):
    """What these outputs need."""
    model = ancestors(model, outputs)
    return model, [{name: inputs[name] for name in model.inputs} for inputs in sets]


def results_of(proto, sets):
    session = session_of(proto)
    return [run_session(session, inputs) for inputs in sets]


def finite(array):
    return array.dtype not in floats or bool(np.isfinite(array).all())


def serve():
    """Answers calls of functions until nobody asks."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What ONNX Runtime prints.
    while True:
        try:
            name, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            result = globals()[name](*arguments)
        except Exception as error:
            result = error
        pickle.dump(result, answers)
        answers.flush()


if __name__ == "__main__":
    np.seterr(all="ignore")
    serve()
