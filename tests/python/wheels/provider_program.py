"""A small program of a user of the wheel onnxruntime-ep-crisol: ONNX Runtime computes a net with the provider and with its
own CPU. Run by tests/python/wheels/run.sh."""

import pathlib
import tempfile

import numpy as np
import onnxruntime
import onnxruntime_ep_crisol

import crisol

(name,) = onnxruntime_ep_crisol.get_ep_names()
assert name == onnxruntime_ep_crisol.get_ep_name()
onnxruntime.register_execution_provider_library(name, onnxruntime_ep_crisol.get_library_path())
devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == name]
print(f"ONNX Runtime {onnxruntime.__version__}:", [dict(device.ep_metadata) for device in devices])
assert devices

net = crisol.nn.Sequential(crisol.nn.Linear(16, 32), crisol.nn.ReLU(), crisol.nn.Linear(32, 4))
x = np.random.default_rng(0).standard_normal((5, 16)).astype(np.float32)
with tempfile.TemporaryDirectory() as folder:
    model = pathlib.Path(folder) / "net.onnx"
    crisol.onnx.save(model, net, crisol.asarray(x), inputs=["x"])
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices(devices[:1], {})
    options.log_severity_level = 3
    with_provider = onnxruntime.InferenceSession(model, options, enable_fallback=0)
    alone = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
assert name in with_provider.get_providers()
found, expected = (session.run(None, {"x": x})[0] for session in (with_provider, alone))
np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
print("same results")
