"""The side of ONNX Runtime or OpenVINO in compare.py: the networks of `crisol bench net`, which crisol writes as ONNX
files, in f32."""

import argparse
import pathlib
import subprocess

import numpy as np

from sampling import Unsupported, serve


def onnxruntime_run(path, shape, threads):
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    settings.add_free_dimension_override_by_name("batch", shape[0])
    session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    inputs = {session.get_inputs()[0].name: values_of(shape)}
    return lambda: session.run(None, inputs)


def openvino_run(path, shape, threads):
    import openvino

    core = openvino.Core()
    model = core.read_model(path)
    model.reshape(list(shape))
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    x = values_of(shape)
    return lambda: request.infer({0: x}, share_inputs=True)


ENGINES = {"onnxruntime": ("ONNX Runtime", onnxruntime_run), "openvino": ("OpenVINO", openvino_run)}


def values_of(shape):
    return np.random.default_rng(1).standard_normal(shape, np.float32)


def model_of(net, options):
    """The network's file. The first use in this process writes it, because crisol may be newer than an old file."""
    path = pathlib.Path(options.models) / f"{net}.onnx"
    if net not in model_of.written:
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [options.crisol, "bench", "net", f"net={net}", "batch=1", "--save-onnx", str(path)]
        written = subprocess.run(command, capture_output=True, text=True)
        if written.returncode != 0:
            raise RuntimeError(written.stderr.strip())
        model_of.written.add(net)
    return str(path)


model_of.written = set()


def prepare(case, keys):
    if case != "net":
        raise Unsupported("only networks: net net=resnet18 batch=8 mode=infer")
    if keys["mode"] == "train":
        raise Unsupported("no training")
    shape = (int(keys["batch"]), *((1, 28, 28) if keys["net"] == "simplecnn" else (3, 224, 224)))
    return ENGINES[options.engine][1](model_of(keys["net"], options), shape, options.threads)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--engine", choices=list(ENGINES), required=True)
parser.add_argument("--crisol", required=True, help="the program that writes the models")
parser.add_argument("--models", required=True, help="folder for the models")
parser.add_argument("--seconds", type=float, default=1)
parser.add_argument("--threads", type=int, default=2)
options = parser.parse_args()
version = __import__(options.engine).__version__
serve(prepare, options.seconds, {"peer": f"{ENGINES[options.engine][0]} {version}"})
