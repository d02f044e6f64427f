"""crisol.onnx: models are saved by running them, and loaded as modules."""

import crisol
import numpy as np
import pytest
from checkout import root
from crisol import nn, onnx
from numeric import array_of, assert_close, tensor


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1)
        self.norm = nn.BatchNorm2d(2)
        self.fc = nn.Linear(2 * 4 * 4, 3)

    def forward(self, x):
        return self.fc(nn.functional.relu(self.norm(self.conv(x))).flatten(1))


def test_round_trip(tmp_path):
    net = Net()
    net(crisol.randn((5, 1, 4, 4)))  # Moves the running statistics.
    path = tmp_path / "net.onnx"
    onnx.save(path, net, crisol.randn((2, 1, 4, 4)), inputs=["image"], outputs=["logits"])
    assert net.training
    model = onnx.load(path)
    (given,), (result,) = model.inputs, model.outputs
    assert (given.name, given.type, given.shape) == ("image", "f32", ("batch", 1, 4, 4))
    assert (result.name, result.shape) == ("logits", ("batch", 3)) and "image" in repr(given)
    x = crisol.randn((3, 1, 4, 4))
    net.eval()
    assert_close(model({"image": x})["logits"].detach(), net(x).detach())
    assert_close(model(x).detach(), net(x).detach())
    assert "fc.weight" in dict(model.named_parameters())
    assert isinstance(model, nn.Module)
    with crisol.no_grad():
        assert_close(nn.Sequential(model, nn.Softmax(1))(x).sum(axis=1), [1, 1, 1])
        assert "Conv" in model.optimized({"image": x})
        other = {"image": crisol.randn((5, 1, 4, 4))}
        assert model.prepare(other) >= 0 and model.prepare(other) == 0  # The second time all kernels are known.
        assert_close(model(other)["logits"], net(other["image"]))
    assert {row["op"] for row in model.profile({"image": x})} & {"Conv", "Gemm"}
    crisol.sum(model(x)).backward()
    assert model.get_parameter("fc.weight").grad.shape == (3, 32)


def test_several_inputs(tmp_path):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(tensor([2, 3]))

        def forward(self, a, b):
            return a * self.scale + b, a - b

    net = Two()
    a, b = crisol.randn((4, 2)), crisol.randn((4, 2))
    onnx.save(tmp_path / "two.onnx", net, [a, b], outputs=["sum", "difference"])
    outputs = onnx.load(tmp_path / "two.onnx")({"input_0": a, "input_1": b})
    assert list(outputs) == ["sum", "difference"]
    assert_close(outputs["sum"].detach(), net(a, b)[0].detach())
    assert_close(outputs["difference"], a - b)
    onnx.save(tmp_path / "function.onnx", lambda x: crisol.exp(x) * 2, a)
    assert_close(onnx.load(tmp_path / "function.onnx")(a), 2 * np.exp(array_of(a)))


def test_info_and_ops(tmp_path):
    onnx.save(tmp_path / "net.onnx", Net(), crisol.randn((1, 1, 4, 4)))
    info = onnx.info(tmp_path / "net.onnx")
    assert info["producer"] == "crisol" and info["inputs"][0]["name"] == "input"
    assert {"name": "Conv", "first": 1, "last": 22} | onnx.supported_ops()[0]
    assert any(op["name"] == "Conv" for op in onnx.supported_ops())


def test_reference_of_onnx(tmp_path):
    reference = pytest.importorskip("onnx.reference")
    net = Net()
    onnx.save(tmp_path / "net.onnx", net, crisol.randn((2, 1, 4, 4)))
    x = np.random.default_rng(0).standard_normal((2, 1, 4, 4)).astype(np.float32)
    (expected,) = reference.ReferenceEvaluator(str(tmp_path / "net.onnx")).run(None, {"input": x})
    assert_close(net.eval()(tensor(x)).detach(), expected, atol=1e-4)


def test_check(tmp_path):
    protos = pytest.importorskip("onnx")
    folder = tmp_path / "case"
    (folder / "test_data_set_0").mkdir(parents=True)
    onnx.save(folder / "model.onnx", crisol.exp, tensor([[1, 2]]))
    x = np.array([[0.5, 1.5]], dtype=np.float32)
    for name, array in (("input_0", x), ("output_0", np.exp(x))):
        proto = protos.numpy_helper.from_array(array)
        (folder / "test_data_set_0" / f"{name}.pb").write_bytes(proto.SerializeToString())
    (result,) = onnx.check(folder)
    assert result["state"] == "passed"


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        onnx.load(tmp_path / "missing.onnx")
    (tmp_path / "broken.onnx").write_bytes(b"text")
    with pytest.raises(crisol.FileError, match="broken"):
        onnx.load(tmp_path / "broken.onnx")
    onnx.save(tmp_path / "net.onnx", nn.Linear(2, 1), crisol.ones((1, 2)))
    model = onnx.load(tmp_path / "net.onnx")
    with pytest.raises(TypeError, match="dict"):
        model(3)
    with pytest.raises(crisol.InvalidArgumentError, match="input"):
        model({})
    with pytest.raises(crisol.InvalidArgumentError):
        model({"input": crisol.ones((1, 3))})

    class Raises(nn.Module):
        def forward(self, x):
            raise KeyError("mine")

    module = Raises()
    with pytest.raises(KeyError, match="mine"):
        onnx.save(tmp_path / "raises.onnx", module, crisol.ones(1))
    assert module.training and not (tmp_path / "raises.onnx").exists()


def test_results_of_several_parts(tmp_path):
    class Parts(nn.Module):
        def forward(self, x):
            return x * 2, None, {"a": [x + 1, (x - 1,)], "b": None}

    path, x = tmp_path / "parts.onnx", tensor([[1, 2]])
    onnx.save(path, Parts(), x, outputs=["twice", "more", "less"])
    found = onnx.load(path)({"input": x})
    assert list(found) == ["twice", "more", "less"]
    assert_close(found["less"], [[0, 1]])
    onnx.save(path, lambda x: (x * 3, None), x)  # As models give (logits, loss) without targets.
    assert_close(onnx.load(path)(x), [[3, 6]])
    with pytest.raises(TypeError, match=r"onnx.save: the model gives a float"):
        onnx.save(tmp_path / "float.onnx", lambda x: (x, 1.5), x)
    with pytest.raises(crisol.InvalidArgumentError, match="no tensor"):
        onnx.save(tmp_path / "none.onnx", lambda x: None, x)
    assert not (tmp_path / "float.onnx").exists() and not (tmp_path / "none.onnx").exists()


def test_resized_and_sampled_images(tmp_path):
    class Warp(nn.Module):
        def forward(self, x):
            y = nn.functional.interpolate(x, scale_factor=1.5, mode="bilinear")
            grid = crisol.tanh(y[:, :2].permute(0, 2, 3, 1))
            return nn.functional.interpolate(y, size=(3, 5)), nn.functional.grid_sample(y, grid, align_corners=False)

    net, x = Warp(), crisol.randn((3, 2, 4, 6))
    onnx.save(tmp_path / "warp.onnx", net, crisol.randn((1, 2, 4, 6)))
    found = onnx.load(tmp_path / "warp.onnx")({"input": x})
    for expected, (_, result) in zip(net(x), found.items(), strict=True):
        assert_close(result, expected)


def test_clip_with_one_bound(tmp_path):
    x = tensor([-2, 0.5, 3])
    for name, low, high, expected in [("low", 0.5, None, [0.5, 0.5, 3]), ("high", None, 0.5, [-2, 0.5, 0.5])]:
        onnx.save(tmp_path / f"{name}.onnx", lambda x, low=low, high=high: crisol.clip(x, low, high), x)
        assert_close(onnx.load(tmp_path / f"{name}.onnx")(x), expected)


def test_texts_and_maps():
    # LinearClassifier of x (rows, 1) with the scores -x and x for "no" and "yes", and a ZipMap with each type of keys.
    model = onnx.load(root / "tests/fixtures/labels.onnx")
    x = np.array([[2], [-3]], np.float32)
    found = model({"x": x})
    assert isinstance(found["label"], np.ndarray)
    assert found["label"].tolist() == ["yes", "no"] == model(x).tolist()
    assert found["texts"] == [{"no": -2.0, "yes": 2.0}, {"no": 3.0, "yes": -3.0}]
    assert found["numbers"] == [{4: -2.0, 7: 2.0}, {4: 3.0, 7: -3.0}]


def test_quotients_of_bytes_are_whole(tmp_path):
    protos = pytest.importorskip("onnx")
    helper = protos.helper
    divisor = protos.numpy_helper.from_array(np.array(7, np.uint8), "divisor")
    x, y = (helper.make_tensor_value_info(name, protos.TensorProto.UINT8, [3]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Div", ["x", "divisor"], ["y"])], "g", [x], [y], [divisor])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    protos.save(model, tmp_path / "q.onnx")
    found = onnx.load(tmp_path / "q.onnx")(crisol.tensor([6, 7, 255], dtype=crisol.uint8))
    assert found.dtype is crisol.uint8 and found.tolist() == [0, 1, 36]


def test_quotients_of_a_convolutions_bytes_are_whole(tmp_path):
    """The element type of a convolution's result is not known where the model is read; the divisor's is."""
    protos = pytest.importorskip("onnx")
    helper, of = protos.helper, protos.numpy_helper.from_array
    byte = np.uint8
    constants = {
        "scale": np.float32(1), "zero": byte(0), "weight": np.ones((1, 1, 1), byte), "divisor": np.array([7], byte),
    }  # fmt: skip
    x, y = (helper.make_tensor_value_info(name, protos.TensorProto.UINT8, [1, 1, 3]) for name in "xy")
    convolution = ["x", "scale", "zero", "weight", "scale", "zero", "scale", "zero"]
    nodes = [
        helper.make_node("QLinearConv", convolution, ["c"], kernel_shape=[1]),
        helper.make_node("Div", ["c", "divisor"], ["y"]),
    ]
    initializers = [of(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    protos.save(model, tmp_path / "q.onnx")
    found = onnx.load(tmp_path / "q.onnx")(crisol.tensor([[[6, 7, 255]]], dtype=crisol.uint8))
    assert found.dtype is crisol.uint8 and found.tolist() == [[[0, 1, 36]]]


@pytest.mark.parametrize("op", ["QLinearLeakyRelu", "QuantizeLinear"])
def test_quantised_results_have_the_type_of_computed_inputs(op, tmp_path):
    """The file has no type for the result of Compress, and without a type numbers would be bytes without a sign."""
    protos = pytest.importorskip("onnx")
    helper, of = protos.helper, protos.numpy_helper.from_array
    constants = {"scale": np.float32(1), "chosen": np.array([True]), "zeros": np.zeros(1, np.int8)}
    nodes = {
        "QLinearLeakyRelu": [
            helper.make_node("Compress", ["x", "chosen"], ["c"], axis=0),
            helper.make_node(op, ["c", "scale", "zeros", "scale"], ["y"], domain="com.microsoft", alpha=1.0),
        ],
        "QuantizeLinear": [
            helper.make_node("Compress", ["zeros", "chosen"], ["zero"]),
            helper.make_node("Cast", ["x"], ["f"], to=protos.TensorProto.FLOAT),
            helper.make_node(op, ["f", "scale", "zero"], ["y"]),
        ],
    }[op]
    x, y = (helper.make_tensor_value_info(name, protos.TensorProto.INT8, [1, 3]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], [of(np.asarray(value), name) for name, value in constants.items()])
    versions = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    protos.save(helper.make_model(graph, opset_imports=versions, ir_version=10), tmp_path / "q.onnx")
    found = onnx.load(tmp_path / "q.onnx")(crisol.tensor([[-3, 0, 100]], dtype=crisol.int8))
    assert found.dtype is crisol.int8 and found.tolist() == [[-3, 0, 100]]
