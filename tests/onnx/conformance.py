"""Runs ONNX's own node tests with crisol, through its C interface: tests/onnx/run.sh starts this program.

A test is a model with inputs and expected outputs. Each test ends as one of:
  passed   all outputs have the expected type, shape and values. ONNX leaves the values of random ops open, so their
           tests compare type and shape alone
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
import warnings

import numpy as np
import onnx
import onnx.backend.test.case.node as node_cases
import onnx.numpy_helper
from onnx.backend.test.case.utils import import_recursive

DTYPES = [np.float32, np.float16, np.int32, np.int64, np.uint8, np.bool_]  # By crisol_dtype.
DEFAULT_DEVICE = ctypes.c_int32(-1)
RANDOM_OPS = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


class Failure(Exception):
    """A call of the library that failed."""


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.crisol_error_message.restype = ctypes.c_char_p
        self.c.crisol_tensor_destroy.argtypes = self.c.crisol_model_destroy.argtypes = [ctypes.c_void_p]
        self.c.crisol_tensor_destroy.restype = self.c.crisol_model_destroy.restype = None

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

    def run(self, model, inputs, outputs):
        """The outputs of these names for inputs by name."""
        tensors = [self.tensor(array) for array in inputs.values()]
        results = (ctypes.c_void_p * len(outputs))()
        try:
            names = (ctypes.c_char_p * max(len(inputs), 1))(*[name.encode() for name in inputs])
            wanted = (ctypes.c_char_p * len(outputs))(*[name.encode() for name in outputs])
            self.call("crisol_onnx_run", model, len(tensors), names,
                      (ctypes.c_void_p * max(len(tensors), 1))(*tensors), len(outputs), wanted, results)
            return [self.array(ctypes.c_void_p(result)) for result in results]
        finally:
            for tensor in tensors + list(results):
                self.c.crisol_tensor_destroy(tensor)


def difference(found, expected, case):
    """What is wrong with an output; empty if nothing is."""
    if isinstance(expected, onnx.TensorProto):
        expected = onnx.numpy_helper.to_array(expected)
    if not isinstance(expected, np.ndarray):
        expected = np.array(expected)
    if found.dtype != expected.dtype:
        return f"{found.dtype} instead of {expected.dtype}"
    if found.shape != expected.shape:
        return f"shape {found.shape} instead of {expected.shape}"
    if any(node.op_type in RANDOM_OPS for node in case.model.graph.node):
        return ""
    exact = expected.dtype.kind != "f"
    # The expected values of f16 were rounded after each step. Some are off by a unit in the last place themselves.
    rtol = max(case.rtol, 2 ** -9) if expected.dtype == np.float16 else case.rtol
    if np.array_equal(found, expected) if exact else np.allclose(found, expected, rtol=rtol, atol=case.atol, equal_nan=True):
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
            found = library.run(model, named, [value.name for value in graph.output])
            for value, one, expected in zip(graph.output, found, outputs):
                if text := difference(one, expected, case):
                    return "wrong", f"{value.name}: {text}"
        return "passed", ""
    except Failure as error:
        return "failed", str(error)
    finally:
        library.c.crisol_model_destroy(model)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libcrisol.so")
    parser.add_argument("--json", help="write the outcome of each test here")
    parser.add_argument("--only", default="", help="tests whose names contain this text")
    parser.add_argument("--verbose", action="store_true", help="print every test that did not pass")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    import_recursive(node_cases)
    cases = [case for case in node_cases._NodeTestCases if options.only in case.name]
    library = Library(options.library)
    counts, by_op, tests = collections.Counter(), collections.defaultdict(collections.Counter), {}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            state, reason = outcome(library, case, folder)
            op = case.model.graph.node[0].op_type
            counts[state] += 1
            by_op[op][state] += 1
            tests[case.name] = {"op": op, "outcome": state, "reason": reason}
            if state == "wrong" or (options.verbose and state != "passed"):
                print(f"{case.name}: {state}: {reason}")
    states = ["passed", "refused", "failed", "wrong"]
    print(f"{'op':32}" + "".join(f"{state:>9}" for state in states))
    for op in sorted(by_op):
        print(f"{op:32}" + "".join(f"{by_op[op][state]:9}" for state in states))
    print(f"{'all':32}" + "".join(f"{counts[state]:9}" for state in states))
    if options.json:
        result = {"onnx": onnx.__version__, "tests": tests, "counts": {state: counts[state] for state in states}}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
