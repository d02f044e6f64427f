"""Sizes that change from run to run: the first two runs compile, also what other sizes need."""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper

from session_nets import RANDOM, model_of, small_net

RUNS = 102
# Runs a model of the standard input with random sizes. Each argument after the library is an input with its element type
# and its axes: a size, or a name with its least and its largest size.
PROGRAM = """
import sys, numpy as np
from provider import register, session_of
library, runs, seed, *inputs = sys.argv[1:]
session, random = session_of(sys.stdin.buffer.read(), register(library)), np.random.default_rng(int(seed))
for i in range(int(runs)):
    print(f"run {i}", file=sys.stderr, flush=True)
    sizes, arrays = {}, {}
    for text in inputs:
        name, dtype, *axes = text.split(",")
        for axis in axes:
            key, *limits = axis.split(":")
            sizes.setdefault(key, random.integers(int(limits[0]), int(limits[1]) + 1) if limits else int(key))
        arrays[name] = np.ones([sizes[axis.split(":")[0]] for axis in axes], dtype)
    session.run(None, arrays)
"""


def normal(*shape):
    return (RANDOM.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)


def text_net():
    """A layer of a transformer for texts of any number and length, as MiniLM has."""
    width, heads = 64, 4
    weights = {"table": normal(100, width), **{name: normal(width, width) for name in ("wq", "wk", "wv", "wo")},
               "w1": normal(width, 2 * width), "w2": normal(2 * width, width), "b1": normal(2 * width), "b2": normal(width),
               "scale": np.ones(width, np.float32), "shift": np.zeros(width, np.float32), "one": np.array(1, np.float32),
               "far": np.array(-1e9, np.float32), "root": np.array(np.sqrt(width / heads), np.float32),
               "two": np.array(np.sqrt(2), np.float32), "half": np.array(0.5, np.float32),
               "split": np.array([0, 0, heads, width // heads]), "join": np.array([0, 0, width]), "axes": np.array([1, 2])}
    make = helper.make_node
    nodes = [make("Gather", ["table", "ids"], ["x"]), make("Cast", ["mask"], ["m"], to=TensorProto.FLOAT),
             make("Sub", ["one", "m"], ["hidden"]), make("Mul", ["hidden", "far"], ["below"]),
             make("Unsqueeze", ["below", "axes"], ["bias"])]
    for one, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes += [make("MatMul", ["x", "w" + one], [one + "1"]), make("Reshape", [one + "1", "split"], [one + "2"]),
                  make("Transpose", [one + "2"], [one], perm=order)]
    nodes += [make("MatMul", ["q", "k"], ["s1"]), make("Div", ["s1", "root"], ["s2"]), make("Add", ["s2", "bias"], ["s3"]),
              make("Softmax", ["s3"], ["p"]), make("MatMul", ["p", "v"], ["a1"]),
              make("Transpose", ["a1"], ["a2"], perm=[0, 2, 1, 3]), make("Reshape", ["a2", "join"], ["a3"]),
              make("MatMul", ["a3", "wo"], ["a4"]), make("Add", ["a4", "x"], ["a5"]),
              make("LayerNormalization", ["a5", "scale", "shift"], ["n"]), make("MatMul", ["n", "w1"], ["h1"]),
              make("Add", ["h1", "b1"], ["h2"]), make("Div", ["h2", "two"], ["g1"]), make("Erf", ["g1"], ["g2"]),
              make("Add", ["g2", "one"], ["g3"]), make("Mul", ["h2", "g3"], ["g4"]), make("Mul", ["g4", "half"], ["g5"]),
              make("MatMul", ["g5", "w2"], ["f1"]), make("Add", ["f1", "b2"], ["f2"]), make("Add", ["f2", "n"], ["f3"]),
              make("LayerNormalization", ["f3", "scale", "shift"], ["f"]),
              make("ReduceMean", ["f"], ["y"], axes=[1], keepdims=0)]
    inputs = [(name, TensorProto.INT64, ["N", "L"]) for name in ("ids", "mask")]
    return model_of(nodes, inputs, [("y", TensorProto.FLOAT, ["N", width])], list(weights.items()))


def line_net():
    """Depthwise and pointwise convolutions over lines of any number and width, as recognition of text has."""
    make, nodes, weights, value, channels = helper.make_node, [], [], "x", 3
    layers = [(16, 3, 1, (2, 2)), (16, 3, 16, (1, 1)), (32, 1, 1, (1, 1)), (32, 3, 32, (2, 1)), (48, 1, 1, (1, 1)),
              (48, 5, 48, (1, 1)), (48, 1, 1, (1, 1))]  # Channels, taps, groups, strides.
    for i, (outputs, taps, groups, strides) in enumerate(layers):
        weights += [(f"w{i}", normal(outputs, channels // groups, taps, taps)), (f"b{i}", normal(outputs))]
        nodes += [make("Conv", [value, f"w{i}", f"b{i}"], [f"c{i}"], pads=[taps // 2] * 4, strides=strides, group=groups),
                  make("HardSwish" if taps > 1 else "Relu", [f"c{i}"], [f"r{i}"])]
        value, channels = f"r{i}", outputs
    weights.append(("letters", normal(channels, 40)))
    nodes += [make("ReduceMean", [value], ["m"], axes=[2], keepdims=0), make("Transpose", ["m"], ["t"], perm=[0, 2, 1]),
              make("MatMul", ["t", "letters"], ["l"]), make("Softmax", ["l"], ["y"])]
    return model_of(nodes, [("x", TensorProto.FLOAT, ["N", 3, 16, "W"])], [("y", TensorProto.FLOAT, None)], weights)


def check_compiles_in_two_runs(library, model, *inputs):
    with tempfile.TemporaryDirectory() as empty:
        caches = {"CRISOL_CACHE_DIR": empty, "POCL_CACHE_DIR": empty, "CRISOL_VERBOSE": "build"}
        command = [sys.executable, "-c", PROGRAM, str(pathlib.Path(library).resolve()), str(RUNS), "0", *inputs]
        own = os.environ | caches | {"PYTHONPATH": str(pathlib.Path(__file__).parent)}
        result = subprocess.run(command, input=model, env=own, capture_output=True)
    text = result.stderr.decode()
    assert result.returncode == 0, text
    before, after = text.split("run 2\n")
    assert "compiled" in before and "compiled" not in after, text


def test_images_of_other_sizes_compile_nothing(devices, library):
    check_compiles_in_two_runs(library, small_net(), "x,float32,N:1:5,3,H:1:59,W:1:59")


def test_texts_of_other_sizes_compile_nothing(devices, library):
    check_compiles_in_two_runs(library, text_net(), "ids,int64,N:1:8,L:8:128", "mask,int64,N:1:8,L:8:128")


def test_lines_of_other_sizes_compile_nothing(devices, library):
    check_compiles_in_two_runs(library, line_net(), "x,float32,N:1:6,3,16,W:32:640")
