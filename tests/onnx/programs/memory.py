"""Peak of the resident memory of one process that loads a model and runs it six times; real_models.py --memory starts it.

    memory.py (crisol | onnxruntime) FILE INPUTS.npz [--library libcrisol.so] [--threads N]

Prints JSON in MB: `start` with NumPy, the library and an opened device, but without the model, and `peak`. Linux only.
"""
import argparse
import json
import pathlib

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


def onnxruntime(options, inputs):
    import onnxruntime

    yield
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = options.threads, 1
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(options.file, settings, providers=["CPUExecutionProvider"])
    for _ in range(RUNS):
        session.run(None, inputs)


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
    work = {"crisol": crisol, "onnxruntime": onnxruntime}[options.runtime](options, inputs)
    next(work)
    start = resident("VmRSS")
    next(work, None)
    print(json.dumps({"start": start, "peak": resident("VmHWM")}))


if __name__ == "__main__":
    main()
