"""Memory and time of one process that loads a model and runs it six times; real_models.py --memory and --first start it.

    process.py (crisol | onnxruntime) FILE INPUTS.npz [--library libcrisol.so] [--threads N]

Prints JSON. `start` and `peak` are the resident memory in MB: with NumPy, the library and an opened device, but without
the model, and at most. `first_ms` is the time from a Python with NumPy alone until the first result. Linux only.
"""
import argparse
import json
import pathlib
import time

import numpy as np

RUNS = 6


def resident(key):
    line = next(line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) / 1024


def crisol(options, inputs):
    from crisol_c import Library

    library = Library(options.library)
    library.array(library.tensor(np.ones(1, np.float32)))  # Opens the device.
    yield
    model = library.load(options.file)
    names = library.output_names(model)
    for _ in range(RUNS):
        library.run(model, inputs, names)
        yield


def onnxruntime(options, inputs):
    import onnxruntime

    yield
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = options.threads, 1
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(options.file, settings, providers=["CPUExecutionProvider"])
    for _ in range(RUNS):
        session.run(None, inputs)
        yield


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runtime", choices=["crisol", "onnxruntime"])
    parser.add_argument("file")
    parser.add_argument("inputs")
    parser.add_argument("--library")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with np.load(options.inputs) as arrays:
        inputs = dict(arrays)
    began = time.perf_counter()
    work = {"crisol": crisol, "onnxruntime": onnxruntime}[options.runtime](options, inputs)
    next(work)
    start = resident("VmRSS")
    next(work)
    first_ms = 1e3 * (time.perf_counter() - began)
    for _ in work:
        pass
    print(json.dumps({"start": start, "peak": resident("VmHWM"), "first_ms": first_ms}))


if __name__ == "__main__":
    main()
