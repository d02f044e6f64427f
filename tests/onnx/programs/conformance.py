"""Runs ONNX's own tests with crisol, through its C interface: tests/onnx/run.sh starts this program.

A test is a model with inputs and expected outputs. The onnx package generates the tests of single nodes, and brings
the other sets as files. Each test ends as one of:
  passed   all outputs have the expected type, shape and values. ONNX leaves the values of random ops open, so their
           tests compare type and shape alone
  refused  crisol refused the model when it was loaded
  failed   crisol loaded the model and refused to run it
  wrong    an output differs, or the host computed a node test whose op belongs to the device: this must not happen
"""
import argparse
import collections
import dataclasses
import json
import os
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import onnx
import onnx.backend.test.case.node as node_cases
import onnx.numpy_helper
from onnx.backend.test.case.utils import import_recursive

from crisol_c import KEPT, TYPES, Failure, Library

STATES = ["passed", "refused", "failed", "wrong"]
SETS = ["node", "simple", "light", "pytorch-converted", "pytorch-operator"]
DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data"
# Node tests that other backends were also measured with are all but these.
BACKENDS = json.loads((pathlib.Path(__file__).parents[3] / "docs/results/onnx/backends.json").read_text())
# Tests whose expected values have larger errors than their tolerance allows. numpy computes the first two in f32 and
# gives 1.9e-7 where 0 is right; it computes the third in f16.
ROUNDED = {"test_dft_inverse": 1e-6, "test_dft_inverse_opset19": 1e-6, "test_attention_4d_causal_fp16_expanded": 2e-4}
RANDOM_OPS = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
# In these Dropout drops elements. ONNX leaves open which.
DROPPING_TESTS = {"test_training_dropout", "test_training_dropout_mask", "test_training_dropout_default",
                  "test_training_dropout_default_mask"}
# Node tests of these ops launch no kernels: they look at elements in place or copy them, answer from the shape, handle
# sequences and optional values, or compute from sizes and numbers that are known when the program is made.
WITHOUT_KERNELS = set("""BitCast BlackmanWindow Concat Constant ConstantOfShape Dropout Expand Flatten HammingWindow HannWindow
    Identity If OptionalGetElement OptionalHasElement Range Reshape SequenceInsert SequenceMap Shape Size Slice Split
    SplitToSequence Squeeze Transpose Unsqueeze""".split())
# Node tests that leave their op nothing to compute, and tests of CumProd, CumSum, TopK and Unique with few whole numbers,
# whose results are known when the program is made.
IDLE_TESTS = ("test_center_crop_pad_crop_expanded", "test_clip_default_inbounds", "test_clip_default_int8_inbounds",
              "test_cumprod_1d_int32_exclusive", "test_cumsum_1d_int32_exclusive", "test_einsum_batch_diagonal",
              "test_einsum_scalar", "test_einsum_transpose", "test_max_one_input", "test_min_one_input",
              "test_reduce_sum_empty_", "test_sum_one_input", "test_top_k_same_values", "test_tril_zero", "test_triu_zero",
              "test_unique_length_1")  # fmt: skip


@dataclasses.dataclass
class Case:
    set: str
    name: str
    op: str  # The op under test, or "" for a model of several.
    model: onnx.ModelProto
    data_sets: list  # Pairs of inputs and expected outputs. A value may also be something else than a tensor.
    rtol: float = 1e-3
    atol: float = 1e-7


def op_of(node):
    """The name of a node's op, with its domain if that is not ONNX's own."""
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def node_tests():
    import_recursive(node_cases)
    cases = node_cases._NodeTestCases
    ops = {case.name: op_of(case.model.graph.node[0]) for case in cases}
    for case in cases:
        # A model that spells an op out by others tests this op.
        op = ops.get(case.name.split("_expanded")[0], ops[case.name])
        yield Case("node", case.name, op, case.model, case.data_sets, case.rtol, case.atol)


def read_value(path, kind):
    """The array, list of arrays or None in a file, for a value of a type of the model."""
    data = path.read_bytes()
    if kind.HasField("sequence_type"):
        return list(onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(data)))
    if kind.HasField("optional_type"):
        return onnx.numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return onnx.TensorProto.FromString(data)


def read_values(folder, kind, values):
    """The values KIND_0.pb, …."""
    paths = [folder / f"{kind}_{i}.pb" for i in range(len(values))]
    return [read_value(path, value.type) for path, value in zip(paths, values) if path.exists()]


def free_inputs(graph):
    """The inputs that are no initializers."""
    stored = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in stored]


def inputs_of(case):
    """Those that the data sets have: in node tests initializers too."""
    return case.model.graph.input if case.set == "node" else free_inputs(case.model.graph)


def folder_tests(name):
    for folder in sorted((DATA / name).iterdir()):
        model = onnx.load(folder / "model.onnx")
        data = [(read_values(one, "input", free_inputs(model.graph)), read_values(one, "output", model.graph.output))
                for one in sorted(folder.glob("test_data_set_*"))]
        op = op_of(model.graph.node[0]) if len(model.graph.node) == 1 else ""
        yield Case(name, folder.name, op, model, data)


def light_tests():
    """Networks whose weights are constants. Their input counts up from 0 to 1."""
    for path in sorted((DATA / "light").glob("*.onnx")):
        model = onnx.load(path)
        inputs = []
        for value in free_inputs(model.graph):
            shape = [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
        expected = [onnx.TensorProto.FromString(path.with_name(f"{path.stem}_output_{i}.pb").read_bytes())
                    for i in range(len(model.graph.output))]
        yield Case("light", path.stem, "", model, [(inputs, expected)])


def all_tests(sets):
    for name in sets:
        yield from node_tests() if name == "node" else light_tests() if name == "light" else folder_tests(name)


def array_of(value):
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def difference_of_output(found, expected, case):
    """What is wrong with the arrays of an output; empty if nothing is."""
    wanted = expected if isinstance(expected, list) else [] if expected is None else [expected]
    if len(found) != len(wanted):
        return f"{len(found)} tensors instead of {len(wanted)}"
    return next(filter(None, (difference(*pair, case) for pair in zip(found, wanted))), "")


def difference(found, expected, case):
    """What is wrong with an array; empty if nothing is."""
    expected = np.asarray(array_of(expected))
    if expected.dtype.name in KEPT:
        expected = expected.astype(KEPT[expected.dtype.name])
    if found.dtype != expected.dtype:
        return f"{found.dtype} instead of {expected.dtype}"
    if found.shape != expected.shape:
        return f"shape {found.shape} instead of {expected.shape}"
    if any(node.op_type in RANDOM_OPS for node in case.model.graph.node) or case.name in DROPPING_TESTS:
        return ""
    rtol = case.rtol
    if expected.dtype.name == "bfloat16":  # As in ONNX's own runner: two units of the last place.
        found, expected, rtol = found.astype(np.float32), expected.astype(np.float32), max(rtol, 2**-6)
    if expected.dtype.kind != "f":
        return "" if np.array_equal(found, expected) else "other values"
    if np.allclose(found, expected, rtol=rtol, atol=ROUNDED.get(case.name, case.atol), equal_nan=True):
        return ""
    return "other values"


def kept_as(value):
    array = array_of(value)
    return np.dtype(KEPT.get(array.dtype.name, array.dtype)) if isinstance(array, np.ndarray) else None


def changes_no_type(case):
    """Whether the test converts to a type that crisol keeps as the type that it has already."""
    if case.op not in ("Cast", "CastLike") or not case.data_sets:
        return False
    inputs, outputs = case.data_sets[0]
    return kept_as(inputs[0]) is not None and kept_as(inputs[0]) == kept_as(outputs[0])


def may_be_idle(case):
    return changes_no_type(case) or case.set != "node" or case.op in WITHOUT_KERNELS or case.name.startswith(IDLE_TESTS)


def outcome(library, case, path):
    path.write_bytes(case.model.SerializeToString())
    try:
        model = library.load(path)
    except Failure as error:
        return "refused", str(error).replace(str(path), "model")
    graph = case.model.graph
    try:
        for inputs, outputs in case.data_sets:
            named = {value.name: array_of(array) for value, array in zip(inputs_of(case), inputs)}
            found = library.run_all(model, named)
            for value, expected in zip(graph.output, outputs):
                if text := difference_of_output(found[value.name], expected, case):
                    return "wrong", f"{value.name}: {text}"
            if not may_be_idle(case) and library.launches(model, named) == 0:
                return "wrong", "no kernel ran"
        return "passed", ""
    except Failure as error:
        return "failed", str(error)
    finally:
        library.destroy(model)


def type_of(case):
    """The type of the first input's elements, by crisol's name; empty for others."""
    inputs = case.data_sets[0][0] if case.data_sets else []
    array = array_of(inputs[0]) if inputs else None
    for name, dtype in TYPES.items():
        if isinstance(array, np.ndarray) and array.dtype == dtype:
            return name
    return ""


def print_table(by_op):
    print(f"{'op':32}" + "".join(f"{state:>9}" for state in STATES))
    for op in sorted(by_op):
        print(f"{op or '(several)':32}" + "".join(f"{by_op[op][state]:9}" for state in STATES))


def summary(tests, supported):
    """Counts by set and by op, and the element types with which tests of an op passed. Only node tests count by op."""
    sets = collections.defaultdict(collections.Counter)
    ops = collections.defaultdict(lambda: {"passed": 0, "tests": 0, "types": set()})
    for test in tests.values():
        sets[test["set"]][test["outcome"]] += 1
        if test["set"] != "node":
            continue
        op = ops[test["op"]]
        op["tests"] += 1
        op["passed"] += test["outcome"] == "passed"
        if test["outcome"] == "passed" and test["type"]:
            op["types"].add(test["type"])
    shared = sum(test["outcome"] == "passed" for name, test in tests.items()
                 if test["set"] == "node" and name not in BACKENDS["newer_tests"])
    return {"onnx": onnx.__version__,
            "passed_of_backends_tests": shared,
            "supported": supported,
            "sets": {name: {state: sets[name][state] for state in STATES} for name in SETS if name in sets},
            "ops": {name: {**op, "types": [t for t in TYPES if t in op["types"]]} for name, op in sorted(ops.items())}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libcrisol.so")
    parser.add_argument("--json", help="write the outcome of each test here")
    parser.add_argument("--summary", help="write counts by set and op here, as docs/results/onnx/crisol.json has them")
    parser.add_argument("--only", default="", help="tests whose names contain this text")
    parser.add_argument("--sets", default=",".join(SETS), help="which sets, by commas")
    parser.add_argument("--least", type=int, default=0, help="fail if fewer tests pass")
    parser.add_argument("--verbose", action="store_true", help="print every test that did not pass")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    library = Library(options.library)
    tests, by_op = {}, collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for case in all_tests(options.sets.split(",")):
            if options.only not in case.name:
                continue
            if progress := os.environ.get("CRISOL_TEST_PROGRESS"):
                pathlib.Path(progress).write_text(case.name)  # For tests/watch.sh.
            state, reason = outcome(library, case, path)
            by_op[case.op][state] += 1
            key = case.name if case.set == "node" else f"{case.set}/{case.name}"
            tests[key] = {"set": case.set, "op": case.op, "type": type_of(case), "outcome": state,
                          "reason": reason}
            if state == "wrong" or (options.verbose and state != "passed"):
                print(f"{case.name}: {state}: {reason}", flush=True)
    print_table(by_op)
    result = summary(tests, library.supported_ops())
    print(f"\n{'set':32}" + "".join(f"{state:>9}" for state in STATES))
    for name, counts in result["sets"].items():
        print(f"{name:32}" + "".join(f"{counts[state]:9}" for state in STATES))
    counts = collections.Counter(test["outcome"] for test in tests.values())
    if options.summary:
        pathlib.Path(options.summary).write_text(json.dumps(result, indent=1) + "\n")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({**result, "tests": tests}, indent=1) + "\n")
    too_few = counts["passed"] < options.least
    if too_few:
        print(f"{counts['passed']} tests passed, at least {options.least} expected")
    print(f"onnx: {counts['passed']} passed, {counts['wrong'] + too_few} failed, {counts['refused'] + counts['failed']} refused")
    return 1 if counts["wrong"] or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
