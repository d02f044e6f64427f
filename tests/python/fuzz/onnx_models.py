"""Random ONNX models: ONNX Runtime against crisol, whose refusals are counted by op."""

import collections
import pathlib
import re
import tempfile

import crisol
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
    apart,
    f16,
    floats,
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
# ONNX Runtime ends the process in these without elements. ONNX leaves open what a mean of nothing is.
no_0 = ["Scan", "LSTM", "GRU", "RNN", "Einsum", "ReduceMean"]
# In these it overlooks what is not a number.
overlooking = ["LSTM", "GRU", "RNN", "MaxPool", "ArgMax", "ArgMin", "TopK", "Clip", "ReduceMax", "ReduceMin", "Unique"]
# These give their inputs' elements, or whole numbers: no program rounds.
exact = """Constant Identity Reshape Transpose Squeeze Unsqueeze Expand Flatten Concat Split Slice Pad Tile Gather GatherND
    GatherElements Where Trilu Cast CastLike Floor Ceil Round Sign Abs Neg Relu Max Min Clip ConstantOfShape Range
    EyeLike OneHot Compress ReverseSequence DepthToSpace SpaceToDepth CenterCropPad ReduceMax ReduceMin MaxPool
    GlobalMaxPool TopK Unique Hardmax Dropout""".split()
# A whole number may then be 1 beside the other: the numbers before may be equal only in one program, as tanh(9) and 1.
rounding = ["Cast", "CastLike", "QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv"]
refusals = collections.Counter()


def make(random):
    """A model and the arrays of its inputs, a list of sets."""
    graph = Graph(random)
    wanted, tries = graph.n(1, 9), 0
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
                move(name, f"{name} exact")
    del graph.node[:]
    graph.node.extend(nodes)
    return proto


def expectations(model, sets):
    """Of each set of inputs: results of ONNX Runtime, and others of numbers that move a little. None for a set that it
    refuses."""
    onnxruntime.set_seed(1)
    overlooks = any(node.op_type in overlooking for node in model.nodes)
    inner = [name for node in model.nodes for name in node.output if name and name not in model.outputs]
    session = session_of(model.proto([*model.outputs, *inner] if overlooks else None))
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
                names = {f"{name} exact" if array.dtype in floats else name: array for name, array in inputs.items()}
                others = [run_session(moving, names) for _ in range(4)]
        except Refused:
            expected.append(None)
            continue
        far = [[other[k] for other in others] for k in range(count)]
        expected.append((results[:count], far, is_half, is_rounded))
    return expected


def finite(array):
    return array.dtype not in floats or bool(np.isfinite(array).all())


def wrong(found, expected, others, is_half, is_rounded):
    """What is wrong with a result, or None."""
    if found.dtype != expected.dtype:
        return f"{found.dtype}, ONNX Runtime has {expected.dtype}"
    if any(other.shape != expected.shape for other in others):
        return None
    if found.shape != expected.shape:
        return f"shape {found.shape}, ONNX Runtime has {expected.shape}"
    if expected.dtype not in floats:
        stable = np.abs(expected.astype(float)) < 2**53  # ONNX Runtime multiplies in double.
        for other in others:
            stable &= other == expected
        bad = stable & (np.abs(found.astype(float) - expected.astype(float)) > is_rounded)
    else:
        with np.errstate(all="ignore"):
            e, f = expected.astype(float), found.astype(float)
            size = np.max(np.abs(e), initial=0, where=np.isfinite(e))
            distance = np.zeros(e.shape)
            for other in others:
                distance = np.maximum(distance, np.abs(other.astype(float) - e))
            distance = np.where(np.isnan(distance), np.inf, distance)
            epsilon = 3e-3 if is_half else 1e-5
            allowed = epsilon * np.abs(e) + 0.3 * epsilon * size + 20 * distance + 1e-7
            bad = ~((np.abs(f - e) <= allowed) | (f == e) | (np.isnan(f) & np.isnan(e)))
            bad &= ~(np.isinf(distance) & np.isfinite(e))
    if not bad.any():
        return None
    at = tuple(int(k) for k in np.argwhere(bad)[0])
    return f"{found[at]} at {at}, ONNX Runtime has {expected[at]}"


def load(model):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(model.proto().SerializeToString())
        return crisol.onnx.load(path)


def refused(error):
    """The op and the rule of a refusal, or None."""
    text = str(error)
    if not isinstance(error, crisol.InvalidArgumentError):
        return None
    if "the model has what is not supported" in text:
        line = text.splitlines()[1].strip()
        return re.sub(r': "[^:]*$', "", line)
    found = re.match(r"\[onnx\] node .*? \((\w+)\): (.*)", text, re.S)
    return f"{found[1]}: {found[2]}" if found else None


def difference(model, sets, rules=None):
    """The number of an output and what is wrong with it, or None. Refusals are no differences; they go to `rules`."""
    rules = set() if rules is None else rules
    try:
        expected = apart(expectations, model, sets)
    except Refused:
        return None
    if all(one is None for one in expected):
        return None
    try:
        own = load(model)
    except Exception as error:
        if rule := refused(error):
            rules.add(rule)
            return None
        return 0, f"load: {type(error).__name__}: {error}"
    for number, (inputs, right) in enumerate(zip(sets, expected)):
        for mode in (crisol.no_grad, crisol.no_grad, crisol.enable_grad) if right else ():
            where = f"set {number}, {mode.__name__}"
            try:
                with mode():
                    given = {name: crisol.asarray(array) for name, array in inputs.items()}
                    results = [np.asarray(value.detach()) for value in own(given).values()]
            except Exception as error:
                if rule := refused(error):
                    rules.add(f"{rule} (in a run)")
                    break
                return 0, f"{where}: {type(error).__name__}: {error}"
            for k, (found, e, others) in enumerate(zip(results, *right[:2])):
                text = wrong(found, e, others, *right[2:])
                if text:
                    return k, f"{where}, {model.outputs[k]}: {text}"
    return None


def shrunk(model, sets, found):
    """A smaller model that still differs: one output, with values of ONNX Runtime as inputs in place of nodes."""
    one = part(model, sets, [model.outputs[found[0]]])
    if difference(*one):
        model, sets = one
    for k in range(len(sets) - 1, -1, -1):
        if len(sets) > 1 and difference(model, sets[:k] + sets[k + 1 :]):
            sets = sets[:k] + sets[k + 1 :]
    for node in list(model.nodes[:-1]):
        if node not in model.nodes or node.op_type == "Constant":
            continue
        smaller = cut(model, sets, [name for name in node.output if name])
        if smaller and difference(*smaller):
            model, sets = smaller
    return model, sets


def part(model, sets, outputs):
    """What these outputs need."""
    model = ancestors(model, outputs)
    return model, [{name: inputs[name] for name in model.inputs} for inputs in sets]


def results_of(proto, sets):
    session = session_of(proto)
    return [run_session(session, inputs) for inputs in sets]


def cut(model, sets, names):
    """The model with these values as inputs."""
    names = [name for name in names if name not in model.outputs]
    if not names:
        return None
    try:
        results = [one[-len(names) :] for one in apart(results_of, model.proto([*model.outputs, *names]), sets)]
    except Refused:
        return None
    other = model.with_parts(
        [n for n in model.nodes if not set(n.output) & set(names)], dict(model.inputs), model.outputs
    )
    for k, name in enumerate(names):
        other.inputs[name] = [
            size if all(one[k].shape[i : i + 1] == (size,) for one in results) else None
            for i, size in enumerate(results[0][k].shape)
        ]
    sets = [{**inputs, **dict(zip(names, arrays))} for inputs, arrays in zip(sets, results)]
    return part(other, sets, other.outputs)


def described(model, sets):
    """The model, the numbers of the first set, and what each program has."""
    text = model.text()
    for name, array in [*sets[0].items(), *model.constants.items()]:
        text += f"\n{name} = {short(array)}"
    with np.errstate(all="ignore"):
        for program, results in dict(reference=of_reference, runtime=of_runtime, crisol=of_crisol).items():
            try:
                text += f"\n{program}: " + "; ".join(map(short, results(model, sets[0])))
            except Exception as error:
                text += f"\n{program}: {type(error).__name__}: {str(error).strip()[:300]}"
    return text


def short(array):
    array = np.asarray(array)
    return f"{array.dtype}{array.shape} {np.array2string(array.reshape(-1), threshold=24, max_line_width=1000)}"


def of_reference(model, inputs):
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model.proto()).run(None, inputs)


def of_runtime(model, inputs):
    return apart(results_of, model.proto(), [inputs])[0]


def of_crisol(model, inputs):
    with crisol.no_grad():
        results = load(model)({name: crisol.asarray(array) for name, array in inputs.items()})
    return [np.asarray(value) for value in results.values()]


def attempt(random):
    """What differs in one model, as text, or None."""
    try:
        made = apart(make, random)
    except Refused:
        return None
    if made is None:
        return None
    rules = set()
    found = difference(*made, rules)
    refusals.update(rules)
    if found is None:
        return None
    small = shrunk(*made, found)
    return f"{(difference(*small) or found)[1]}\n{described(*small)}"
