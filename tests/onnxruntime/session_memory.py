"""The memory of inputs and outputs, on CPUs and on GPUs."""
import gc
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from provider import session_of
from session_nets import RANDOM, SAMPLES, Skipped, image, model_of, small_net
from session_nodes import (test_branches_that_alone_use_an_input,
                           test_nodes_that_crisol_does_not_have_stay_with_onnx_runtime)

MEMORY_VENDOR = 0xC1501  # Of the provider's memory.


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
    """Inputs and outputs are used where they are, if their addresses allow it. Outputs of up to 8 rows are copied."""
    model = wide_net()
    session, alone = session_of(model, devices), session_of(model, [])
    for n in (1, 8, 9, 64, 129):
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
        program = pathlib.Path(__file__).with_name("sessions.py")
        result = subprocess.run([sys.executable, program, "--library", library, "--only", "gpu_memory_be"],
                                env=os.environ | posed, capture_output=True, text=True)
    assert result.returncode == 0 and ", 0 failed, 0 skipped" in result.stdout, result.stdout + result.stderr
