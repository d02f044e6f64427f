"""Options of sessions, compiled kernels in a folder, and stored models."""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from provider import PROVIDER, session_of
from session_nets import RANDOM, image, model_of, refusal_of, small_net


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


def results_of_stored(model, devices, inputs, wanted=None):
    """What a model gives after it was stored and loaded. None with version 1.23, where nothing is claimed and stored."""
    with tempfile.TemporaryDirectory() as name:
        source, stored = pathlib.Path(name) / "net.onnx", pathlib.Path(name) / "stored.onnx"
        source.write_bytes(model)
        session_that_stores(source, devices, file_path=stored, embed_mode=1)
        return session_of(str(stored), devices).run(wanted, inputs) if stored.exists() else None


def test_stored_models_give_each_output_its_own_value(devices):
    """ONNX Runtime orders the outputs of a set of nodes in a stored model in another way than the first session."""
    f32, i64 = TensorProto.FLOAT, TensorProto.INT64
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["r"]),
             helper.make_node("Shape", ["m"], ["s"]), helper.make_node("Cast", ["r"], ["t"], to=TensorProto.STRING),
             helper.make_node("Cast", ["t"], ["q"], to=f32), helper.make_node("MatMul", ["q", "w"], ["y"])]
    x = {"x": np.round(4 * RANDOM.standard_normal((3, 4))).astype(np.float32)}
    w = [("w", RANDOM.integers(-2, 3, (4, 4)).astype(np.float32))]
    for wanted in (["s", "y"], ["y", "s"], ["m", "s", "y"], ["s", "m", "y"]):
        model = model_of(nodes, [("x", f32, ["N", 4])], [(name, i64 if name == "s" else f32, None) for name in wanted], w)
        expected = session_of(model, []).run(wanted, x)
        for found, right in zip(results_of_stored(model, devices, x, wanted) or [], expected):
            np.testing.assert_array_equal(found, right)


def test_stored_models_with_an_op_that_onnx_runtime_replaces(devices):
    """LogSoftmax of f16 has no kernel in ONNX Runtime's CPU, and is too little work for a set of its own."""
    f32, f16 = TensorProto.FLOAT, TensorProto.FLOAT16
    nodes = [helper.make_node("LogSoftmax", ["h"], ["z"]), helper.make_node("MatMul", ["x", "w"], ["y"])]
    model = model_of(nodes, [("h", f16, [2, 6]), ("x", f32, [2, 4])], [("z", f16, None), ("y", f32, None)],
                     [("w", np.eye(4, dtype=np.float32))])
    inputs = {"h": np.ones((2, 6), np.float16), "x": np.ones((2, 4), np.float32)}
    if found := results_of_stored(model, devices, inputs):
        np.testing.assert_allclose(found[0], np.full((2, 6), -np.log(6)), rtol=2e-3)
        np.testing.assert_array_equal(found[1], inputs["x"])


def test_stored_models_with_a_set_that_has_no_inputs(devices):
    """ONNX Runtime refuses an EPContext node without inputs."""
    f32 = TensorProto.FLOAT
    nodes = [helper.make_node("RandomUniform", [], ["r"], shape=[2, 4], low=1.0, high=1.0),
             helper.make_node("MatMul", ["r", "w"], ["z"]), helper.make_node("MatMul", ["x", "w"], ["y"])]
    model = model_of(nodes, [("x", f32, [2, 4])], [("z", f32, None), ("y", f32, None)], [("w", np.eye(4, dtype=np.float32))])
    x = {"x": np.ones((2, 4), np.float32)}
    for found in results_of_stored(model, devices, x) or []:
        np.testing.assert_array_equal(found, x["x"])


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
