"""Checks models that crisol wrote: check_saved.py FOLDER

For each NAME.onnx the folder has NAME.safetensors with inputs and expected outputs. ONNX's checker must accept the
model, and ONNX Runtime must give the outputs, within 1e-4 of the largest element.
"""
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

from crisol_c import TYPES


def load(path):
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(content[start + entry["data_offsets"][0]:start + entry["data_offsets"][1]],
                            TYPES[entry["dtype"].lower()]).reshape(entry["shape"])
        for name, entry in header.items()
    }


def check(path):
    onnx.checker.check_model(str(path), full_check=True)
    values = load(path.with_suffix(".safetensors"))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    outputs = session.run(names, {i.name: values[i.name] for i in session.get_inputs()})
    for name, output in zip(names, outputs):
        wanted = values[name]
        if output.shape != wanted.shape or output.dtype != wanted.dtype:
            raise AssertionError(f"{name} is {output.dtype} {output.shape}, expected {wanted.dtype} {wanted.shape}")
        if wanted.size == 0:
            continue
        difference = np.abs(output.astype(np.float64) - wanted.astype(np.float64)).max()
        allowed = 1e-4 * max(np.abs(wanted.astype(np.float64)).max(), 1e-6)
        if not difference <= allowed:
            raise AssertionError(f"{name} differs by {difference}, {allowed} allowed")


failures = 0
models = sorted(pathlib.Path(sys.argv[1]).glob("*.onnx"))
for model in models:
    try:
        check(model)
        print(f"{model.name}: equal")
    except Exception as error:  # Whatever the checker or the runtime throws.
        failures += 1
        print(f"{model.name}: {error}")
sys.exit(1 if failures or not models else 0)
