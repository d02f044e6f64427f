"""Tests how ONNX Runtime's sessions use crisol's provider: tests/onnxruntime/run.sh starts this program.

Options, sizes that change, threads, memory, what the provider leaves to ONNX Runtime, and machines without a device.
"""
import argparse
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import traceback
import wave

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from provider import CPU, PROVIDER, nodes_by_provider, register, session_of

RANDOM = np.random.default_rng(0)
MEMORY_VENDOR = 0xC1501  # Of the provider's memory.
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


def test_later_sizes_compile_nothing(devices, library):
    """The first two sizes compile, also what other sizes need."""
    program = ("import sys, numpy as np\n"
               "from provider import register, session_of\n"
               "session, random = session_of(sys.stdin.buffer.read(), register(sys.argv[1])), np.random.default_rng(0)\n"
               "for i in range(30):\n"
               "    print(f'run {i}', file=sys.stderr, flush=True)\n"
               "    n, height, width = random.integers(1, [6, 60, 60])\n"
               "    session.run(None, {'x': np.ones((n, 3, height, width), np.float32)})\n")
    with tempfile.TemporaryDirectory() as empty:
        caches = {"CRISOL_CACHE_DIR": empty, "POCL_CACHE_DIR": empty, "CRISOL_VERBOSE": "build"}
        result = subprocess.run([sys.executable, "-c", program, str(pathlib.Path(library).resolve())], input=small_net(),
                                env=os.environ | caches | {"PYTHONPATH": str(pathlib.Path(__file__).parent)},
                                capture_output=True)
    text = result.stderr.decode()
    assert result.returncode == 0, text
    before, after = text.split("run 2\n")
    assert "compiled" in before and "compiled" not in after, text


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


def test_options(devices):
    model = small_net()
    x = image()
    expected = session_of(model, []).run(None, {"x": x})[0]
    for options in ({"precision": "fp16"}, {"device_id": dict(devices[0].ep_metadata)["device_id"]}):
        np.testing.assert_allclose(session_of(model, devices, options).run(None, {"x": x})[0], expected, rtol=2e-2, atol=2e-2)
    assert '"fast"' in refusal_of(lambda: session_of(model, devices, {"precision": "fast"}))
    assert '"cach_dir"' in refusal_of(lambda: session_of(model, devices, {"cach_dir": "/tmp"}))
    assert '"99"' in refusal_of(lambda: session_of(model, devices, {"device_id": "99"}))


def test_a_folder_for_compiled_kernels(devices, library):
    program = ("import sys, numpy as np\n"
               "from provider import register, session_of\n"
               "session = session_of(sys.stdin.buffer.read(), register(sys.argv[1]), {'cache_dir': sys.argv[2]})\n"
               "session.run(None, {'x': np.ones((1, 3, 8, 8), np.float32)})\n")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as unused:
        caches = {"CRISOL_CACHE_DIR": unused, "POCL_CACHE_DIR": unused + "/pocl", "CRISOL_VERBOSE": "build"}

        def compiled():
            result = subprocess.run([sys.executable, "-c", program, str(pathlib.Path(library).resolve()), folder],
                                    input=small_net(), capture_output=True,
                                    env=os.environ | caches | {"PYTHONPATH": str(pathlib.Path(__file__).parent)})
            assert result.returncode == 0, result.stderr.decode()
            return result.stderr.count(b"crisol: compiled")

        first = compiled()
        stored = len(list(pathlib.Path(folder).glob("*.bin")))
        for _ in range(3):  # PoCL's programs reach the folder over several processes.
            last = compiled()
        assert first > 0 and stored > 0 and last == 0, (first, stored, last)


def session_that_stores(path, devices, **entries):
    """A session of the model in a file, with entries ep.context_…."""
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.add_session_config_entry("ep.context_enable", "1")
    for name, value in entries.items():
        settings.add_session_config_entry(f"ep.context_{name}", str(value))
    settings.add_provider_for_devices(devices[:1], {})
    return onnxruntime.InferenceSession(path, settings, enable_fallback=0)


def setting_of(node, name):
    return next(helper.get_attribute_value(one) for one in node.attribute if one.name == name)


def test_stored_models(devices):
    """The stored model computes the same without the first one's nodes, in any folder and in memory."""
    model, x = small_net(), image()
    expected = session_of(model, []).run(None, {"x": x})[0]
    for embed_mode in (0, 1):
        with tempfile.TemporaryDirectory() as name:
            folder, moved = pathlib.Path(name), pathlib.Path(name) / "moved"
            source, stored = folder / "net.onnx", folder / "stored/net.onnx"
            moved.mkdir(), stored.parent.mkdir()
            source.write_bytes(model)
            first = session_that_stores(source, devices, file_path=stored, embed_mode=embed_mode)
            np.testing.assert_allclose(first.run(None, {"x": x})[0], expected, rtol=1e-4, atol=1e-5)
            source.unlink()
            for file in stored.parent.iterdir():
                file.rename(moved / file.name)
            (node,) = onnx.load(moved / "net.onnx").graph.node
            assert (node.op_type, setting_of(node, "source")) == ("EPContext", PROVIDER.encode())
            assert setting_of(node, "embed_mode") == embed_mode
            files = [file for file in moved.iterdir() if file.name != "net.onnx"]
            assert len(files) == 1 - embed_mode, files
            for file in files:
                assert setting_of(node, "ep_cache_context") == file.name.encode()
                onnx.checker.check_model(onnx.load(file))
            second = session_of(str(moved / "net.onnx"), devices)
            for n in (2, 5):
                more = image(n, 8, 6)
                np.testing.assert_allclose(second.run(None, {"x": more})[0], session_of(model, []).run(None, {"x": more})[0],
                                           rtol=1e-4, atol=1e-5)
            assert "already" in refusal_of(lambda: session_that_stores(moved / "net.onnx", devices, embed_mode=1,
                                                                       file_path=folder / "again.onnx"))
            if embed_mode:
                in_memory = session_of((moved / "net.onnx").read_bytes(), devices)
                np.testing.assert_allclose(in_memory.run(None, {"x": x})[0], expected, rtol=1e-4, atol=1e-5)


def test_models_that_onnx_runtime_compiles(devices):
    """ModelCompiler stores the same models as a session does, also in memory."""
    def settings():
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.add_provider_for_devices(devices[:1], {})
        return options

    model, x = small_net(), image()
    expected = session_of(model, []).run(None, {"x": x})[0]
    with tempfile.TemporaryDirectory() as name:
        source = pathlib.Path(name) / "net.onnx"
        source.write_bytes(model)
        for is_embedded in (True, False):
            stored = pathlib.Path(name) / f"stored-{is_embedded}.onnx"
            compiler = onnxruntime.ModelCompiler(settings(), str(source), embed_compiled_data_into_model=is_embedded)
            compiler.compile_to_file(str(stored))
            (node,) = onnx.load(stored).graph.node
            assert (node.op_type, setting_of(node, "embed_mode")) == ("EPContext", int(is_embedded))
            np.testing.assert_allclose(session_of(str(stored), devices).run(None, {"x": x})[0], expected, rtol=1e-4, atol=1e-5)
        stored = onnxruntime.ModelCompiler(settings(), model, embed_compiled_data_into_model=True).compile_to_bytes()
        np.testing.assert_allclose(session_of(stored, devices).run(None, {"x": x})[0], expected, rtol=1e-4, atol=1e-5)


def test_stored_models_without_a_path_lie_beside_the_first_one(devices):
    with tempfile.TemporaryDirectory() as name:
        source, x = pathlib.Path(name) / "net.onnx", image()
        source.write_bytes(small_net())
        expected = session_that_stores(source, devices).run(None, {"x": x})[0]
        (stored,) = [file for file in source.parent.iterdir() if file.name.endswith("_ctx.onnx")]
        np.testing.assert_allclose(session_of(str(stored), devices).run(None, {"x": x})[0], expected, rtol=1e-4, atol=1e-5)


def test_stored_models_with_nodes_that_stay_with_onnx_runtime(devices):
    """Branches, constants and two sets of nodes, with a node of ONNX Runtime between them."""
    f32 = TensorProto.FLOAT
    branches = [helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["a" + op]), helper.make_node(op, ["a" + op], [op])],
                                  op, [], [helper.make_tensor_value_info(op, f32, None)]) for op in ("Abs", "Neg")]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["r"]),
             helper.make_node("If", ["c"], ["p"], then_branch=branches[0], else_branch=branches[1]),
             helper.make_node("Add", ["p", "r"], ["s"]), helper.make_node("Cast", ["s"], ["t"], to=TensorProto.STRING),
             helper.make_node("Cast", ["t"], ["q"], to=f32), helper.make_node("MatMul", ["q", "w"], ["z"]),
             helper.make_node("Clip", ["z", "", "top"], ["y"])]
    model = model_of(nodes, [("x", f32, ["N", 4]), ("c", TensorProto.BOOL, [])], [("y", f32, None)],
                     [("w", RANDOM.standard_normal((4, 4)).astype(np.float32)), ("top", np.float32(3))])
    with tempfile.TemporaryDirectory() as name:
        source, stored = pathlib.Path(name) / "net.onnx", pathlib.Path(name) / "stored.onnx"
        source.write_bytes(model)
        session_that_stores(source, devices, file_path=stored, embed_mode=1)
        if int(onnxruntime.__version__.split(".")[1]) < 24:  # The provider claims the whole model or nothing.
            assert not stored.exists()
            return
        assert sum(node.op_type == "EPContext" for node in onnx.load(stored).graph.node) == 2
        second, alone = session_of(str(stored), devices), session_of(model, [])
        for condition in (True, False):
            inputs = {"x": RANDOM.standard_normal((3, 4)).astype(np.float32), "c": np.array(condition)}
            np.testing.assert_allclose(second.run(None, inputs)[0], alone.run(None, inputs)[0], rtol=1e-4, atol=1e-4)


def test_stored_models_that_are_refused(devices):
    with tempfile.TemporaryDirectory() as name:
        source, stored = pathlib.Path(name) / "net.onnx", pathlib.Path(name) / "stored.onnx"
        source.write_bytes(small_net())
        session_that_stores(source, devices, file_path=stored, embed_mode=0)
        model = onnx.load(stored)
        (node,) = model.graph.node
        (content,) = [one for one in node.attribute if one.name == "ep_cache_context"]
        for text, reason in (("../net.onnx", "only files in the model's folder"), ("/net.onnx", "only files in"),
                             ("none.onnx", "none.onnx")):
            content.s = text.encode()
            onnx.save(model, stored)
            assert reason in refusal_of(lambda: session_of(str(stored), devices))
        node.attribute.remove(content)
        onnx.save(model, stored)
        assert "ep_cache_context" in refusal_of(lambda: session_of(str(stored), devices))


def test_outputs_bound_by_the_caller(devices):
    model = small_net()
    x = image()
    session = session_of(model, devices)
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    expected = session_of(model, []).run(None, {"x": x})[0]
    np.testing.assert_allclose(binding.copy_outputs_to_cpu()[0], expected, rtol=1e-4, atol=1e-5)
    own = np.zeros_like(expected)
    value = onnxruntime.OrtValue.ortvalue_from_numpy(x.copy())
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", value)
    binding.bind_output("y", "cpu", 0, np.float32, own.shape, own.ctypes.data)
    for factor in (1, 2):
        value.update_inplace(factor * x)
        session.run_with_iobinding(binding)
        expected = session_of(model, []).run(None, {"x": factor * x})[0]
        np.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-5)


def floats_at(distance, shape):
    """Random numbers whose first one lies `distance` bytes behind a multiple of 64."""
    count = int(np.prod(shape))
    memory = np.empty(4 * count + 192, np.uint8)
    start = -memory.ctypes.data % 64 + distance
    array = memory[start:start + 4 * count].view(np.float32).reshape(shape)
    array[:] = RANDOM.standard_normal(shape)
    return array


def wide_net():
    """y = (x w + 1) rounded to whole numbers, t = y transposed; x of (N, 128)."""
    f32 = TensorProto.FLOAT
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Round", ["p"], ["y"]),
             helper.make_node("Transpose", ["y"], ["t"])]
    return model_of(nodes, [("x", f32, ["N", 128])], [("y", f32, ["N", 128]), ("t", f32, [128, "N"])],
                    [("w", RANDOM.integers(-2, 3, (128, 128)).astype(np.float32))])


def test_memory_at_any_address(devices):
    """Large inputs and outputs are used where they are, if their addresses allow it."""
    model = wide_net()
    session, alone = session_of(model, devices), session_of(model, [])
    for n in (64, 129):
        for distance in (0, 4, 16, 32, 60):
            x, y, t = floats_at(distance, (n, 128)), floats_at(64 - distance, (n, 128)), floats_at(distance, (128, n))
            x[:] = np.round(4 * x)
            before, expected = x.copy(), alone.run(None, {"x": x})
            binding = session.io_binding()
            binding.bind_cpu_input("x", x)
            for name, own in (("y", y), ("t", t)):
                binding.bind_output(name, "cpu", 0, np.float32, own.shape, own.ctypes.data)
            for _ in range(2):
                session.run_with_iobinding(binding)
                for found, value in zip((y, t), expected):
                    assert np.array_equal(found, value), (n, distance)
                y[:] = t[:] = 0
            for found, value in zip(session.run(None, {"x": x}), expected):
                assert np.array_equal(found, value), (n, distance)
            assert np.array_equal(x, before)


def test_an_output_in_the_memory_of_an_input(devices):
    model = wide_net()
    session, alone = session_of(model, devices), session_of(model, [])
    for shift in (0, 64):  # In rows: the second output begins within the input.
        memory = floats_at(0, (192, 128))
        memory[:] = np.round(4 * memory)
        x = memory[:128]
        binding = session.io_binding()
        binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
        binding.bind_output("y", "cpu", 0, np.float32, x.shape, memory[shift:].ctypes.data)
        binding.bind_output("t")
        for _ in range(3):
            expected = alone.run(None, {"x": x.copy()})[0] % 7
            session.run_with_iobinding(binding)
            assert np.array_equal(memory[shift:shift + 128] % 7, expected)
            memory[:] = np.round(4 * RANDOM.standard_normal(memory.shape))


def test_outputs_outlive_their_session(devices):
    model, x = wide_net(), np.ones((64, 128), np.float32)
    session = session_of(model, devices)
    kept = [session.run(None, {"x": x * k}) for k in range(4)]
    del session
    gc.collect()
    for k, outputs in enumerate(kept):
        for found, expected in zip(outputs, session_of(model, []).run(None, {"x": x * k})):
            assert np.array_equal(found, expected), k


def test_a_session_that_outlives_its_library(devices, library):
    program = ("import sys, numpy as np, onnxruntime\n"
               "from provider import PROVIDER, register, session_of\n"
               "model, x = sys.stdin.buffer.read(), {'x': np.ones((1, 3, 8, 8), np.float32)}\n"
               "first = session_of(model, register(sys.argv[1]))\n"
               "for _ in range(2):\n"
               "    expected = first.run(None, x)[0]\n"
               "    onnxruntime.unregister_execution_provider_library(PROVIDER)\n"
               "    assert np.array_equal(first.run(None, x)[0], expected)\n"
               "    second = session_of(model, register(sys.argv[1]))\n"
               "    assert np.array_equal(second.run(None, x)[0], expected)\n"
               "    first = second\n")
    result = subprocess.run([sys.executable, "-c", program, str(pathlib.Path(library).resolve())], input=small_net(),
                            env=os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parent)}, capture_output=True)
    assert result.returncode == 0, (result.returncode, result.stderr.decode())


def on_gpu(devices, array):
    """A value in the memory of the provider's device."""
    index = int(dict(devices[0].ep_metadata)["device_id"])
    return onnxruntime.OrtValue.ortvalue_from_numpy(array, "gpu", index, MEMORY_VENDOR)


def require_gpu(devices):
    if not hasattr(devices[0], "memory_info"):
        raise Skipped("this version does not tell which memory a device has")
    if devices[0].memory_info(onnxruntime.OrtDeviceMemoryType.DEFAULT) is None:
        raise Skipped("a CPU has no memory of its own; test_a_cpu_that_poses_as_a_gpu runs it")


def test_gpu_memory_between_runs(devices):
    """Outputs stay on the device, and are the inputs of the next run."""
    require_gpu(devices)
    model = wide_net()
    session, alone = session_of(model, devices), session_of(model, [])
    for n in (2, 64):
        x = np.round(4 * RANDOM.standard_normal((n, 128))).astype(np.float32)
        value, expected = on_gpu(devices, x), x
        for _ in range(4):
            binding = session.io_binding()
            binding.bind_ortvalue_input("x", value)
            result = on_gpu(devices, np.zeros_like(x))
            binding.bind_ortvalue_output("y", result)
            binding.bind_output("t", "cpu")
            session.run_with_iobinding(binding)
            expected, turned = alone.run(None, {"x": expected})
            assert np.array_equal(binding.copy_outputs_to_cpu()[1], turned)
            value = result
        assert np.array_equal(value.numpy(), expected)
        value.update_inplace(x)
        assert np.array_equal(value.numpy(), x)


def test_gpu_memory_for_plain_runs(devices):
    require_gpu(devices)
    for make, name in ((wide_net, "x"), (small_net, "x")):
        model = make()
        session, alone = session_of(model, devices), session_of(model, [])
        for n in (1, 5, 70, 5):
            x = np.round(4 * RANDOM.standard_normal((n, 128) if make is wide_net else (n, 3, 9, 7))).astype(np.float32)
            for found, expected in zip(session.run(None, {name: x}), alone.run(None, {name: x})):
                np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_gpu_memory_beside_nodes_of_onnx_runtime(devices):
    require_gpu(devices)
    test_nodes_that_crisol_does_not_have_stay_with_onnx_runtime(devices)
    test_branches_that_alone_use_an_input(devices)


def test_gpu_memory_is_given_back(devices):
    require_gpu(devices)
    x, session = np.ones((64, 128), np.float32), session_of(wide_net(), devices)
    kept = [session.run(None, {"x": k * x})[0] for k in range(4)]
    del session
    gc.collect()
    again = session_of(wide_net(), devices)
    for _ in range(50):
        again.run(None, {"x": x})
    assert all(np.isfinite(one).all() for one in kept)


def test_a_cpu_that_poses_as_a_gpu(devices, library):
    """Runs the tests of GPU memory on a driver that reports another device: see docs/testing.md."""
    driver = pathlib.Path(library).resolve().with_name("libcrisol_fault_driver.so")
    vendors = sorted(pathlib.Path(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")).glob("*.icd"))
    if not hasattr(devices[0], "memory_info"):
        raise Skipped("this version does not tell which memory a device has")
    if not driver.exists() or not vendors:
        raise Skipped("the driver that poses is not built, or no driver is registered")
    if devices[0].memory_info(onnxruntime.OrtDeviceMemoryType.DEFAULT) is not None:
        raise Skipped("the device is a GPU")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "posed.icd").write_text(f"{driver}\n")
        posed = {"OCL_ICD_VENDORS": folder, "CRISOL_FAULT_DRIVER": vendors[0].read_text().strip(),
                 "CRISOL_POSE_DEVICE": str(SAMPLES.parents[1] / "devices/nvidia-rtx-4090.json")}
        result = subprocess.run([sys.executable, __file__, "--library", library, "--only", "gpu_memory_be"],
                                env=os.environ | posed, capture_output=True, text=True)
    assert result.returncode == 0 and ", 0 failed, 0 skipped" in result.stdout, result.stdout + result.stderr


def test_threads_share_sessions(devices):
    model = small_net()
    sessions, alone = [session_of(model, devices) for _ in range(2)], session_of(model, [])
    faults = []

    def work(seed):
        random = np.random.default_rng(seed)
        for i in range(25):
            x = random.standard_normal((1 + i % 3, 3, 6, 6)).astype(np.float32)
            found, expected = sessions[(seed + i) % 2].run(None, {"x": x})[0], alone.run(None, {"x": x})[0]
            if not np.allclose(found, expected, rtol=1e-4, atol=1e-5):
                faults.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults


def test_threads_make_and_release_sessions(devices):
    model, x = small_net(), image()
    expected = session_of(model, []).run(None, {"x": x})[0]
    faults = []

    def work():
        for _ in range(20):
            if not np.allclose(session_of(model, devices).run(None, {"x": x})[0], expected, rtol=1e-4, atol=1e-5):
                faults.append("other results")

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults


def test_programs_end(devices, library):
    """The library is unloaded by the program, or at its end with sessions and results that are in use."""
    start = ("import sys, numpy as np, onnxruntime as ort\n"
             "from provider import PROVIDER, register, session_of\n"
             "devices = register(sys.argv[1])\n"
             "session = session_of(sys.stdin.buffer.read(), devices)\n"
             "binding = session.io_binding()\n"
             "binding.bind_cpu_input('x', np.ones((1, 3, 5, 5), np.float32))\n"
             "binding.bind_output('y')\n"
             "session.run_with_iobinding(binding)\n"
             "y = binding.get_outputs()\n")
    unload = ("text = y[0].numpy().tolist()\n"
              "del binding, y, session, devices\n"
              "ort.unregister_execution_provider_library(PROVIDER)\n"
              "assert not [d for d in ort.get_ep_devices() if d.ep_name == PROVIDER]\n"
              "assert register(sys.argv[1])\n")
    for program in (start, start + unload):
        result = subprocess.run([sys.executable, "-c", program + "print('at the end')\n", str(pathlib.Path(library).resolve())],
                                input=small_net(), env=os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parent)},
                                capture_output=True)
        assert result.returncode == 0 and b"at the end" in result.stdout, (result.returncode, result.stderr.decode())


def test_a_session_outlives_another(devices):
    model = small_net()
    x = image()
    first, second = session_of(model, devices), session_of(model, devices)
    expected = first.run(None, {"x": x})[0]
    del first
    gc.collect()
    assert np.array_equal(second.run(None, {"x": x})[0], expected)


def resident_bytes():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_sessions_do_not_leak(devices, sessions=1000):
    model = small_net()
    x = image()

    def use(times):
        for _ in range(times):
            session_of(model, devices).run(None, {"x": x})
        gc.collect()

    use(50)
    before = resident_bytes()
    use(sessions)
    growth = (resident_bytes() - before) / sessions
    assert growth < 4e3, f"{growth:.0f} bytes for each session"


def run_sample(name, library, *arguments):
    result = subprocess.run([sys.executable, str(SAMPLES / name), *map(str, arguments), "--library", str(library)],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_sample_that_classifies_pictures(devices, library):
    try:
        from PIL import Image
    except ImportError:
        raise Skipped("pillow is missing") from None
    # The means of the colours choose the class.
    mean = helper.make_node("ReduceMean", ["x"], ["m"], axes=[2, 3], keepdims=0)
    model = model_of([mean, helper.make_node("MatMul", ["m", "w"], ["y"])], [("x", TensorProto.FLOAT, ["N", 3, 32, 32])],
                     [("y", TensorProto.FLOAT, ["N", 3])], [("w", 9 * np.eye(3, dtype=np.float32))])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "net.onnx").write_bytes(model)
        (folder / "labels.txt").write_text("red\ngreen\nblue\n")
        for size, colour in (((40, 64), (0, 250, 0)), ((50, 33), (0, 0, 250))):
            Image.new("RGB", size, colour).save(folder / f"{max(colour)}-{colour.index(250)}.png")
        pictures = sorted(folder.glob("*.png"))
        text = run_sample("classify.py", library, folder / "net.onnx", *pictures, "--labels", folder / "labels.txt")
    device, first, second = text.splitlines()
    assert device == dict(devices[0].ep_metadata)["device"]
    assert "250-1.png: green 100.0 %, " in first and "250-2.png: blue 100.0 %, " in second, text


def loudness_net():
    """A model with the interface of Silero's: loud windows are speech. The state counts them."""
    f32, i64 = TensorProto.FLOAT, TensorProto.INT64
    nodes = [helper.make_node("Abs", ["input"], ["a"]), helper.make_node("ReduceMean", ["a"], ["m"], axes=[1], keepdims=1),
             helper.make_node("Sub", ["m", "quiet"], ["d"]), helper.make_node("Mul", ["d", "steep"], ["s"]),
             helper.make_node("Sigmoid", ["s"], ["output"]), helper.make_node("Add", ["state", "output"], ["stateN"])]
    return model_of(nodes, [("input", f32, ["N", None]), ("state", f32, [2, "N", 128]), ("sr", i64, [])],
                    [("output", f32, ["N", 1]), ("stateN", f32, [2, "N", 128])],
                    [("quiet", np.array(0.05, np.float32)), ("steep", np.array(400, np.float32))])


def test_the_sample_that_finds_speech(devices, library):
    times = np.arange(3 * 16000) / 16000
    sound = np.where((times >= 1) & (times < 2), 0.3, 0.01) * np.sin(2 * np.pi * 220 * times)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "net.onnx").write_bytes(loudness_net())
        with wave.open(str(folder / "sound.wav"), "wb") as file:
            file.setparams((1, 2, 16000, 0, "NONE", ""))
            file.writeframes((32767 * sound).astype("<i2").tobytes())
        text = run_sample("speech.py", library, folder / "net.onnx", folder / "sound.wav")
        assert text.splitlines()[1:] == ["speech from 0.99 s to 2.02 s", "34 % of 94 windows are speech"], text
        for real in sorted(SAMPLES.parents[1].glob("build/onnx/models/silero-vad==*/silero_vad.onnx")):
            found, expected = (run_sample("speech.py", library, real, folder / "sound.wav", *more).splitlines()[1:]
                               for more in ([], ["--cpu"]))
            assert found == expected, (found, expected)


def test_the_sample_in_cpp(devices, library):
    """With the headers in the folder CRISOL_ONNXRUNTIME_HEADERS: the wheel of ONNX Runtime has the library alone."""
    headers = os.environ.get("CRISOL_ONNXRUNTIME_HEADERS")
    if not headers:
        raise Skipped("CRISOL_ONNXRUNTIME_HEADERS names no folder with ONNX Runtime's headers")
    (runtime,) = pathlib.Path(onnxruntime.__file__).parent.glob("capi/libonnxruntime.so.*")
    model, x = small_net(), image(1, 1, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "net.onnx").write_bytes(model)
        x.tofile(folder / "x.bin")
        subprocess.run(["cmake", "-S", SAMPLES, "-B", folder / "build", f"-DONNXRUNTIME_INCLUDE={headers}",
                        f"-DONNXRUNTIME_LIBRARY={runtime}"], check=True, capture_output=True)
        subprocess.run(["cmake", "--build", folder / "build"], check=True, capture_output=True)
        # The wheel has the library under its full name alone. Version 1.23 opens another library beside it.
        for own in runtime.parent.glob("*.so"):
            (folder / own.name).symlink_to(own)
        (folder / "libonnxruntime.so.1").symlink_to(runtime)
        paths = {"LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
        result = subprocess.run([folder / "build/classify", folder / "net.onnx", library, folder / "x.bin"],
                                env=os.environ | paths, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        expected = session_of(model, []).run(None, {"x": x})[0][0]
    device, *lines = result.stdout.splitlines()
    assert device == dict(devices[0].ep_metadata)["device"]
    found = [float(line.split(": ")[1]) for line in lines]
    np.testing.assert_allclose(found, sorted(expected, reverse=True), atol=1e-3)
    assert lines[0].startswith(f"class {np.argmax(expected)}: ")


def test_a_machine_without_devices(devices, library):
    program = ("import sys, onnxruntime as ort\n"
               "ort.register_execution_provider_library('crisol', sys.argv[1])\n"
               f"assert not [d for d in ort.get_ep_devices() if d.ep_name == '{PROVIDER}']\n"
               "ort.InferenceSession(sys.stdin.buffer.read(), providers=['CPUExecutionProvider'])\n")
    with tempfile.TemporaryDirectory() as empty:
        clean = {name: text for name, text in os.environ.items() if not name.startswith("OCL_ICD_")}
        result = subprocess.run([sys.executable, "-c", program, str(pathlib.Path(library).resolve())], input=small_net(),
                                env=clean | {"OCL_ICD_VENDORS": empty}, capture_output=True)
    text = result.stderr.decode()
    assert result.returncode == 0, text
    assert text.count("crisol finds no OpenCL device") == 1, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libcrisol_ort.so")
    parser.add_argument("--only", default="", help="tests whose names contain this text")
    parser.add_argument("--sessions", type=int, default=1000, help="for the test of leaks")
    options = parser.parse_args()
    devices = register(options.library)
    assert devices, "the provider has no device"
    passed = failed = skipped = 0
    for name, test in sorted(globals().items()):
        if not name.startswith("test_") or options.only not in name:
            continue
        if progress := os.environ.get("CRISOL_TEST_PROGRESS"):
            pathlib.Path(progress).write_text(name)  # For tests/watch.sh.
        more = {"library": options.library} if "library" in test.__code__.co_varnames[:test.__code__.co_argcount] else {}
        more |= {"sessions": options.sessions} if name.endswith("leak") else {}
        try:
            test(devices, **more)
            passed += 1
        except Skipped as reason:
            skipped += 1
            print(f"[skipped] {name}: {reason}", flush=True)
        except Exception:
            failed += 1
            print(f"[failed] {name}\n{traceback.format_exc()}", flush=True)
    print(f"ONNX Runtime {onnxruntime.__version__}")
    print(f"ort: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
