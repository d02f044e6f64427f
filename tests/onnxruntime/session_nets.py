"""What the tests of sessions share: nets, inputs and comparisons."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper

from provider import session_of

RANDOM = np.random.default_rng(0)
SAMPLES = pathlib.Path(__file__).parents[2] / "samples/onnxruntime"


class Skipped(Exception):
    """A test cannot run here."""


def model_of(nodes, inputs, outputs, constants=(), opset=17):
    """A serialized model. Inputs and outputs are (name, type, shape)."""
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info(*one) for one in inputs],
                              [helper.make_tensor_value_info(*one) for one in outputs],
                              [onnx.numpy_helper.from_array(array, name) for name, array in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 9
    return model.SerializeToString()


def small_net():
    """A convolution, a mean and a product, for images of (N, 3, H, W)."""
    weights = [("w", RANDOM.standard_normal((8, 3, 3, 3)).astype(np.float32)),
               ("v", RANDOM.standard_normal((8, 5)).astype(np.float32))]
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("ReduceMean", ["r"], ["m"], axes=[2, 3], keepdims=0),
             helper.make_node("MatMul", ["m", "v"], ["y"])]
    return model_of(nodes, [("x", TensorProto.FLOAT, ["N", 3, "H", "W"])], [("y", TensorProto.FLOAT, ["N", 5])], weights)


def image(n=2, height=9, width=7):
    return RANDOM.standard_normal((n, 3, height, width)).astype(np.float32)


def check_same(model, devices, inputs):
    """The provider's outputs are those of ONNX Runtime's CPU. Returns the provider's session."""
    session = session_of(model, devices)
    for found, expected in zip(session.run(None, inputs), session_of(model, []).run(None, inputs)):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    return session


def refusal_of(call):
    try:
        call()
    except Exception as error:  # ONNX Runtime raises many kinds.
        return str(error)
    raise AssertionError("nothing was refused")
