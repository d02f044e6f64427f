"""The samples that use ONNX Runtime."""
import os
import pathlib
import subprocess
import sys
import tempfile
import wave

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from provider import session_of
from session_nets import SAMPLES, Skipped, image, model_of, small_net


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


def test_a_sample_without_the_package_says_what_to_do(devices):
    program = ("import argparse, sys\n"
               "sys.modules['onnxruntime_ep_crisol'] = None\n"
               "sys.path.insert(0, sys.argv[1])\n"
               "import session\n"
               "session.session_of('none.onnx', argparse.Namespace(cpu=False, library=None))\n")
    result = subprocess.run([sys.executable, "-c", program, str(SAMPLES)], capture_output=True, text=True)
    assert result.returncode == 1 and result.stderr.startswith("install the package onnxruntime-ep-crisol"), result.stderr


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
