"""Runs ONNX's own tests with crisol, through its C interface: tests/onnx/run.sh starts this program.

Without options it runs the tests of nodes. With --data it runs the models that lie in onnx's package: those that PyTorch
wrote, simple ones, and known networks with made-up weights.

A test is a model with inputs and expected outputs. Each test ends as one of:
  passed   all outputs have the expected type, shape and values
  refused  crisol refused the model when it was loaded
  failed   crisol loaded the model and refused to run it
  wrong    an output differs: this must not happen
"""
import argparse
import collections
import ctypes
import json
import os
import pathlib
import sys
import tempfile
import types
import warnings

import numpy as np
import onnx
import onnx.backend.test.case.node as node_tests
import onnx.backend.test.loader
import onnx.numpy_helper
from onnx.backend.test.case.utils import import_recursive

DTYPES = [np.float32, np.float16, np.int32, np.int64, np.uint8, np.bool_]  # By crisol_dtype.
DEFAULT_DEVICE = ctypes.c_int32(-1)
# The expected values of these tests have errors of 1.9e-7 where 0 is right, because numpy computes them in f32.
ROUNDED = {"test_dft_inverse": 1e-6, "test_dft_inverse_opset19": 1e-6}


class Failure(Exception):
    """A call of the library that failed."""


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.crisol_error_message.restype = ctypes.c_char_p
        for kind in "tensor", "model", "named_tensors":
            destroy = getattr(self.c, f"crisol_{kind}_destroy")
            destroy.argtypes, destroy.restype = [ctypes.c_void_p], None

    def call(self, function, *arguments):
        if getattr(self.c, function)(*arguments) != 0:
            raise Failure(self.c.crisol_error_message().decode(errors="replace"))

    def load(self, path):
        model = ctypes.c_void_p()
        self.call("crisol_onnx_load", path.encode(), DEFAULT_DEVICE, ctypes.byref(model))
        return model

    def tensor(self, array):
        if isinstance(array, onnx.TensorProto):
            array = onnx.numpy_helper.to_array(array)
        if isinstance(array, np.generic):
            array = np.asarray(array)
        if not isinstance(array, np.ndarray) or array.dtype not in DTYPES:
            raise Failure("an input that is no tensor of a type of crisol")
        array = np.ascontiguousarray(array).reshape(array.shape)
        sizes = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        tensor = ctypes.c_void_p()
        self.call("crisol_tensor_create", DEFAULT_DEVICE, DTYPES.index(array.dtype), array.ndim, sizes,
                  ctypes.c_void_p(array.ctypes.data), ctypes.byref(tensor))
        return tensor

    def array(self, tensor):
        dtype, rank = ctypes.c_int(), ctypes.c_int()
        self.call("crisol_tensor_dtype", tensor, ctypes.byref(dtype))
        self.call("crisol_tensor_rank", tensor, ctypes.byref(rank))
        sizes = (ctypes.c_int64 * max(rank.value, 1))()
        self.call("crisol_tensor_sizes", tensor, sizes)
        array = np.empty(list(sizes)[:rank.value], DTYPES[dtype.value])
        self.call("crisol_tensor_read", tensor, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
        return array

    def run(self, model, inputs):
        """The arrays of each output, by name, for inputs by name. A list is a sequence, and None is left out."""
        tensors = []
        found, results = collections.defaultdict(list), ctypes.c_void_p()
        try:
            for name, value in inputs.items():
                for array in value if isinstance(value, list) else [] if value is None else [value]:
                    tensors.append((name, self.tensor(array)))
            names = (ctypes.c_char_p * max(len(tensors), 1))(*[name.encode() for name, _ in tensors])
            self.call("crisol_onnx_run_all", model, len(tensors), names,
                      (ctypes.c_void_p * max(len(tensors), 1))(*[tensor for _, tensor in tensors]), ctypes.byref(results))
            count = ctypes.c_int32()
            self.call("crisol_named_tensors_count", results, ctypes.byref(count))
            for i in range(count.value):
                name, tensor = ctypes.c_char_p(), ctypes.c_void_p()
                self.call("crisol_named_tensors_item", results, i, ctypes.byref(name), ctypes.byref(tensor))
                tensors.append(("", tensor))
                found[name.value.decode()].append(self.array(tensor))
            return found
        finally:
            self.c.crisol_named_tensors_destroy(results)
            for _, tensor in tensors:
                self.c.crisol_tensor_destroy(tensor)


def difference_of_output(found, expected, case):
    """What is wrong with the arrays of an output; empty if nothing is."""
    wanted = expected if isinstance(expected, list) else [] if expected is None else [expected]
    if len(found) != len(wanted):
        return f"{len(found)} tensors instead of {len(wanted)}"
    return next(filter(None, (difference(*pair, case) for pair in zip(found, wanted))), "")


def difference(found, expected, case):
    """What is wrong with an array; empty if nothing is."""
    if isinstance(expected, onnx.TensorProto):
        expected = onnx.numpy_helper.to_array(expected)
    if not isinstance(expected, np.ndarray):
        expected = np.array(expected)
    if found.dtype != expected.dtype:
        return f"{found.dtype} instead of {expected.dtype}"
    if found.shape != expected.shape:
        return f"shape {found.shape} instead of {expected.shape}"
    if expected.dtype.kind != "f":
        return "" if np.array_equal(found, expected) else "other values"
    # Some expected values of f16 were rounded after each step: two units in the last place, as onnx allows for bf16.
    rtol = max(case.rtol, 2**-9) if expected.dtype == np.float16 else case.rtol
    if np.allclose(found, expected, rtol=rtol, atol=ROUNDED.get(case.name, case.atol), equal_nan=True):
        return ""
    return "other values"


def outcome(library, case, folder):
    path = os.path.join(folder, "model.onnx")
    pathlib.Path(path).write_bytes(case.model.SerializeToString())
    try:
        model = library.load(path)
    except Failure as error:
        return "refused", str(error).replace(path, "model")
    graph = case.model.graph
    try:
        for inputs, outputs in case.data_sets:
            named = {value.name: array for value, array in zip(graph.input, inputs)}
            found = library.run(model, named)
            for value, expected in zip(graph.output, outputs):
                if text := difference_of_output(found[value.name], expected, case):
                    return "wrong", f"{value.name}: {text}"
        return "passed", ""
    except Failure as error:
        return "failed", str(error)
    finally:
        library.c.crisol_model_destroy(model)


def read_value(path, kind):
    """The array, list of arrays or None in a file, for a value of a type of the model."""
    data = pathlib.Path(path).read_bytes()
    if kind.HasField("sequence_type"):
        return list(onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(data)))
    if kind.HasField("optional_type"):
        return onnx.numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))


def light_case(case):
    """A known network with made-up weights: its input counts from 0 up to 1."""
    path = pathlib.Path(onnx.__file__).parent.parent / case.url
    model = onnx.load(path)
    weights = {tensor.name for tensor in model.graph.initializer}
    [value] = [value for value in model.graph.input if value.name not in weights]
    shape = [dimension.dim_value or 1 for dimension in value.type.tensor_type.shape.dim]
    count = int(np.prod(shape))
    image = (np.arange(count).reshape(shape) / count).astype(np.float32)
    inputs = [image if one.name == value.name else None for one in model.graph.input]
    output = read_value(f"{path.with_suffix('')}_output_0.pb", model.graph.output[0].type)
    return model, [(inputs, [output])]


def data_cases():
    """The tests that lie in onnx's package as files."""
    for kind in "pytorch-converted", "pytorch-operator", "simple", "real":
        for case in sorted(onnx.backend.test.loader.load_model_tests(kind=kind), key=lambda case: case.name):
            if case.model_dir is None:
                model, data_sets = light_case(case)
            else:
                folder = pathlib.Path(case.model_dir)
                model = onnx.load(folder / "model.onnx")
                data_sets = [tuple([read_value(one / f"{what}_{i}.pb", values[i].type)
                                    for i in range(len(list(one.glob(f"{what}_*.pb"))))]
                                   for what, values in (("input", model.graph.input), ("output", model.graph.output)))
                             for one in sorted(folder.glob("test_data_set_*"))]
            yield types.SimpleNamespace(name=case.name, group="light" if kind == "real" else kind, model=model,
                                        data_sets=data_sets, rtol=case.rtol, atol=case.atol)


def node_cases():
    """The tests of single nodes, which onnx's package makes when they are asked for."""
    import_recursive(node_tests)
    for case in node_tests._NodeTestCases:
        case.group = case.model.graph.node[0].op_type
        yield case


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libcrisol.so")
    parser.add_argument("--data", action="store_true", help="run the models in onnx's package")
    parser.add_argument("--json", help="write the outcome of each test here")
    parser.add_argument("--only", default="", help="tests whose names contain this text")
    parser.add_argument("--verbose", action="store_true", help="print every test that did not pass")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    cases = [case for case in (data_cases() if options.data else node_cases()) if options.only in case.name]
    library = Library(options.library)
    counts, by_group, tests = collections.Counter(), collections.defaultdict(collections.Counter), {}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            state, reason = outcome(library, case, folder)
            counts[state] += 1
            by_group[case.group][state] += 1
            tests[case.name] = {"group" if options.data else "op": case.group, "outcome": state, "reason": reason}
            if state == "wrong" or (options.verbose and state != "passed"):
                print(f"{case.name}: {state}: {reason}")
    states = ["passed", "refused", "failed", "wrong"]
    print(f"{'models' if options.data else 'op':32}" + "".join(f"{state:>9}" for state in states))
    for group in sorted(by_group):
        print(f"{group:32}" + "".join(f"{by_group[group][state]:9}" for state in states))
    print(f"{'all':32}" + "".join(f"{counts[state]:9}" for state in states))
    if options.json:
        result = {"onnx": onnx.__version__, "tests": tests, "counts": {state: counts[state] for state in states}}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
