"""Which nodes the provider takes, and their results for inputs of several sizes."""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from provider import CPU, PROVIDER, nodes_by_provider, session_of
from session_nets import RANDOM, check_same, image, model_of, small_net


def test_devices_have_the_facts_of_their_opencl_devices(devices):
    for device in devices:
        metadata = dict(device.ep_metadata)
        assert metadata["device"] and metadata["platform"] and metadata["device_id"].isdigit(), metadata
        assert device.ep_vendor == "crisol"


def test_a_whole_net_is_one_node_for_any_batch_and_size(devices):
    model = small_net()
    session, alone = session_of(model, devices), session_of(model, [])
    nodes = nodes_by_provider(session)
    assert not nodes or nodes == {PROVIDER: 4}, nodes
    for _ in range(12):
        x = image(*RANDOM.integers(1, 9, 3))
        np.testing.assert_allclose(session.run(None, {"x": x})[0], alone.run(None, {"x": x})[0], rtol=1e-4, atol=1e-5)


def test_one_name_for_sizes_that_differ(devices):
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], [("x", TensorProto.FLOAT, ["?", "?"])],
                     [("y", TensorProto.FLOAT, None)])
    check_same(model, devices, {"x": RANDOM.standard_normal((2, 3)).astype(np.float32)})


def test_nodes_that_crisol_does_not_have_stay_with_onnx_runtime(devices):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("StringConcat", ["words", "words"], ["twice"]),
             helper.make_node("Cast", ["a"], ["wide"], to=TensorProto.DOUBLE),
             helper.make_node("Erf", ["a"], ["e"]), helper.make_node("MatMul", ["e", "w"], ["y"])]
    model = model_of(nodes, [("x", TensorProto.FLOAT, [3, 4]), ("words", TensorProto.STRING, [2])],
                     [("y", TensorProto.FLOAT, None), ("twice", TensorProto.STRING, None), ("wide", TensorProto.DOUBLE, None)],
                     [("w", RANDOM.standard_normal((4, 4)).astype(np.float32))], opset=20)
    inputs = {"x": RANDOM.standard_normal((3, 4)).astype(np.float32), "words": np.array(["One", "TWO"], object)}
    session, alone = session_of(model, devices), session_of(model, [])
    found, expected = session.run(None, inputs), alone.run(None, inputs)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-5)
    assert list(found[1]) == list(expected[1])
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-4, atol=1e-5)
    nodes = nodes_by_provider(session)
    assert not nodes or (nodes[PROVIDER] >= 3 and nodes[CPU] >= 1), nodes


def test_random_numbers_of_a_seed_are_those_of_onnx_runtime(devices):
    f32 = TensorProto.FLOAT
    nodes = [helper.make_node("RandomNormal", [], ["r"], shape=[3, 4], seed=5.0), helper.make_node("Add", ["x", "r"], ["s"]),
             helper.make_node("MatMul", ["s", "w"], ["y"])]
    model = model_of(nodes, [("x", f32, [3, 4])], [("y", f32, None)], [("w", np.eye(4, dtype=np.float32))])
    x, session = {"x": np.zeros((3, 4), np.float32)}, session_of(model, devices)
    if nodes_by_provider(session):  # Before 1.24 the provider claims the whole model.
        alone = session_of(model, [])
        for _ in range(2):
            np.testing.assert_allclose(session.run(None, x)[0], alone.run(None, x)[0], rtol=1e-4, atol=1e-5)


def test_fourier_transforms_that_are_too_long_stay_with_onnx_runtime(devices):
    """The importer takes them, and a run would refuse them."""
    for opset, more in ((17, {"axis": 1}), (20, {})):
        for declared, length in ((10000, 10000), ("N", 10000), ("N", 6), (6, 6)):
            node = helper.make_node("DFT", ["x"] if more else ["x", "", "axis"], ["y"], **more)
            model = model_of([node], [("x", TensorProto.FLOAT, ["B", declared, 1])], [("y", TensorProto.FLOAT, None)],
                             [] if more else [("axis", np.array(1))], opset=opset)
            session = check_same(model, devices, {"x": RANDOM.uniform(-0.1, 0.1, (1, length, 1)).astype(np.float32)})
            nodes = nodes_by_provider(session)
            assert not nodes or nodes == {PROVIDER if declared == 6 else CPU: 1}, (opset, declared, nodes)


def test_branches_and_loops(devices):
    f32, i64, boolean = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    step = helper.make_graph([helper.make_node("MatMul", ["h", "w"], ["p"]), helper.make_node("Tanh", ["p"], ["h2"]),
                              helper.make_node("Identity", ["go"], ["go2"])], "step",
                             [helper.make_tensor_value_info("i", i64, []), helper.make_tensor_value_info("go", boolean, []),
                              helper.make_tensor_value_info("h", f32, None)],
                             [helper.make_tensor_value_info("go2", boolean, []), helper.make_tensor_value_info("h2", f32, None)])
    halves = [helper.make_graph([helper.make_node(op, ["last"], [op])], op, [], [helper.make_tensor_value_info(op, f32, None)])
              for op in ("Abs", "Neg")]
    nodes = [helper.make_node("Loop", ["count", "", "x"], ["last"], body=step),
             helper.make_node("If", ["c"], ["y"], then_branch=halves[0], else_branch=halves[1])]
    model = model_of(nodes, [("x", f32, [2, 4]), ("count", i64, []), ("c", boolean, [])], [("y", f32, None)],
                     [("w", RANDOM.standard_normal((4, 4)).astype(np.float32))])
    x = RANDOM.standard_normal((2, 4)).astype(np.float32)
    for count, condition in ((3, True), (0, False), (5, False)):
        check_same(model, devices, {"x": x, "count": np.array(count), "c": np.array(condition)})


def test_branches_that_alone_use_an_input(devices):
    f32 = TensorProto.FLOAT
    branches = [helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["a" + op]), helper.make_node(op, ["a" + op], [op])],
                                  op, [], [helper.make_tensor_value_info(op, f32, None)]) for op in ("Abs", "Neg")]
    nodes = [helper.make_node("If", ["c"], ["p"], then_branch=branches[0], else_branch=branches[1]),
             helper.make_node("MatMul", ["p", "w"], ["q"]), helper.make_node("Tanh", ["q"], ["y"])]
    model = model_of(nodes, [("x", f32, [2, 4]), ("c", TensorProto.BOOL, [])], [("y", f32, None)],
                     [("w", RANDOM.standard_normal((4, 4)).astype(np.float32))])
    for condition in (True, False):
        session = check_same(model, devices, {"x": RANDOM.standard_normal((2, 4)).astype(np.float32),
                                              "c": np.array(condition)})
    nodes = nodes_by_provider(session)
    # Before 1.27 a set of nodes does not get what only graphs within its nodes use.
    gives_all = int(onnxruntime.__version__.split(".")[1]) >= 27
    assert not nodes or (nodes == {PROVIDER: 3} if gives_all else nodes[PROVIDER] >= 2), nodes


def test_branches_that_use_constants_alone(devices):
    f32, weight = TensorProto.FLOAT, RANDOM.integers(-2, 3, (4, 4)).astype(np.float32)

    def branch(op, has_own_weight):
        name = "w" + op if has_own_weight else "w"
        nodes = [helper.make_node("MatMul", [name, name], ["p" + op]), helper.make_node(op, ["p" + op], [op])]
        own = [numpy_helper.from_array(weight, name)] if has_own_weight else []
        return helper.make_graph(nodes, op, [], [helper.make_tensor_value_info(op, f32, [4, 4])], own)

    for has_own_weight in (False, True):
        for more in ([], [helper.make_node("MatMul", ["x", "w"], ["z"])]):
            branches = {f"{kind}_branch": branch(op, has_own_weight) for kind, op in (("then", "Abs"), ("else", "Neg"))}
            model = model_of([helper.make_node("If", ["c"], ["y"], **branches), *more],
                             [("c", TensorProto.BOOL, []), ("x", f32, [4, 4])],
                             [("y", f32, None), *(("z", f32, None) for _ in more)], [("w", weight)])
            settings = onnxruntime.SessionOptions()
            settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # Folds no constants.
            settings.log_severity_level = 4
            settings.add_provider_for_devices(devices[:1], {})
            session = onnxruntime.InferenceSession(model, settings, enable_fallback=0)
            for condition in (True, False):
                inputs = {"x": weight, "c": np.array(condition)}
                for found, expected in zip(session.run(None, inputs), session_of(model, []).run(None, inputs)):
                    np.testing.assert_array_equal(found, expected)


def test_nodes_within_a_node_that_stays_with_onnx_runtime(devices):
    """Texts keep a branch and a loop with ONNX Runtime, and their products are crisol's."""
    f32, i64, boolean, text = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING

    def through_text(value, result):
        return [helper.make_node("Cast", [value], [result + "_text"], to=text),
                helper.make_node("Cast", [result + "_text"], [result], to=f32)]

    step = helper.make_graph([helper.make_node("MatMul", ["h", "w"], ["p"]), helper.make_node("Add", ["p", "outer"], ["a"]),
                              helper.make_node("Tanh", ["a"], ["t"]), *through_text("t", "r"),
                              helper.make_node("MatMul", ["r", "outer"], ["h2"]), helper.make_node("Identity", ["go"], ["go2"])],
                             "step", [helper.make_tensor_value_info("i", i64, []),
                                      helper.make_tensor_value_info("go", boolean, []),
                                      helper.make_tensor_value_info("h", f32, [4, 4])],
                             [helper.make_tensor_value_info("go2", boolean, []),
                              helper.make_tensor_value_info("h2", f32, [4, 4])])
    inner = helper.make_node("Loop", ["count", "", "x"], ["looped"], body=step)
    then_branch = helper.make_graph([inner], "then", [], [helper.make_tensor_value_info("looped", f32, [4, 4])])
    else_branch = helper.make_graph([helper.make_node("MatMul", ["outer", "w"], ["m"]), *through_text("m", "e")], "else", [],
                                    [helper.make_tensor_value_info("e", f32, [4, 4])])
    nodes = [helper.make_node("MatMul", ["x", "w"], ["outer"]),
             helper.make_node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)]
    model = model_of(nodes, [("x", f32, [4, 4]), ("count", i64, []), ("c", boolean, [])], [("y", f32, [4, 4])],
                     [("w", RANDOM.standard_normal((4, 4)).astype(np.float32))])
    x = RANDOM.standard_normal((4, 4)).astype(np.float32)
    for count, condition in ((3, True), (0, True), (1, False)):
        session = check_same(model, devices, {"x": x, "count": np.array(count), "c": np.array(condition)})
    nodes = nodes_by_provider(session)
    # Before 1.31 only sets of the model's own graph are claimed.
    is_new = int(onnxruntime.__version__.split(".")[1]) >= 31
    assert not nodes or nodes[PROVIDER] >= (5 if is_new else 1), nodes  # The products, and what is beside them.


def test_quantised_products_are_exact(devices):
    """ONNX Runtime's CPU adds pairs of u8 and i8 in 16 bits on some processors, so it is no reference here."""
    x = RANDOM.uniform(0, 16, (5, 24)).astype(np.float32)
    w = RANDOM.integers(64, 128, (24, 7)).astype(np.int8)  # The sum of a pair is up to 64,770.
    scales = [("sx", np.float32(1 / 16)), ("sw", np.float32(1 / 64)), ("sy", np.float32(3))]
    constants = [*((name, np.array(scale)) for name, scale in scales), ("zero", np.array(0, np.uint8)), ("w", w)]
    nodes = [helper.make_node("QuantizeLinear", ["x", "sx", "zero"], ["qx"]),
             helper.make_node("DequantizeLinear", ["qx", "sx", "zero"], ["rx"]),
             helper.make_node("DequantizeLinear", ["w", "sw"], ["rw"]), helper.make_node("MatMul", ["rx", "rw"], ["p"]),
             helper.make_node("QuantizeLinear", ["p", "sy", "zero"], ["qy"]),
             helper.make_node("DequantizeLinear", ["qy", "sy", "zero"], ["y"])]
    model = model_of(nodes, [("x", TensorProto.FLOAT, ["N", 24])], [("y", TensorProto.FLOAT, None)], constants)
    rounded = np.clip(np.rint(x * 16), 0, 255)
    expected = np.clip(np.rint(rounded @ w.astype(np.float64) / 1024 / 3), 0, 255) * 3
    assert expected.min() > 0 and expected.max() < 3 * 255
    np.testing.assert_allclose(session_of(model, devices).run(None, {"x": x})[0], expected, rtol=1e-6)


def test_quantised_ops_with_a_scale_for_each_channel_are_exact(devices):
    """Products of u8 and i8 with a scale for each channel are those of whole numbers, also where sums of two products do
    not fit into 16 bits. ONNX Runtime's CPU has other results on processors with AVX2 and without VNNI."""
    depth, channels, side = 64, 40, 5
    w, scales = RANDOM.integers(-127, 128, (channels, depth, 3, 3)), RANDOM.uniform(0.001, 0.01, channels).astype(np.float32)
    for zero in (0, 128):
        x = RANDOM.integers(0, 256, (2, depth, side, side))
        patches = np.lib.stride_tricks.sliding_window_view(x - zero, (3, 3), axis=(2, 3))
        found = {"QLinearConv": np.einsum("nchwij,ocij->nohw", patches, w),
                 "QLinearMatMul": (x[:, :, 0, 0] - zero) @ w[:, :, 0, 0].T}
        for op, sums in found.items():
            of_channel = scales.astype(np.float64).reshape(-1, *(1,) * (sums.ndim - 2))
            real = 0.5 * of_channel * sums
            scale, zero_y = np.float32(np.ptp(real) / 250), np.uint8(np.clip(-real.min() * 250 / np.ptp(real), 0, 255))
            expected = np.clip(np.rint(real / scale) + zero_y, 0, 255).astype(np.uint8)
            own, weight = (x, w) if op == "QLinearConv" else (x[:, :, 0, 0], w[:, :, 0, 0].T)
            constants = [("xs", np.float32(0.5)), ("xz", np.uint8(zero)), ("w", weight.astype(np.int8)), ("ws", scales),
                         ("wz", np.zeros(channels, np.int8)), ("ys", scale), ("yz", zero_y)]
            model = model_of([helper.make_node(op, ["x", *(name for name, _ in constants)], ["y"])],
                             [("x", TensorProto.UINT8, own.shape)], [("y", TensorProto.UINT8, expected.shape)],
                             [(name, np.asarray(array)) for name, array in constants])
            y = session_of(model, devices).run(None, {"x": own.astype(np.uint8)})[0]
            assert np.array_equal(y, expected), (op, zero, np.mean(y != expected))
