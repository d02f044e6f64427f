"""What both programs share: a session of ONNX Runtime on the device that CRISOL_DEVICE names, or on the best one."""

import pathlib

import onnxruntime

PROVIDER = "CrisolExecutionProvider"


def add_arguments(parser):
    """The options of both programs."""
    parser.add_argument("--library", help="libcrisol_ort.so (default: that of the package onnxruntime-ep-crisol)")
    parser.add_argument("--cpu", action="store_true", help="compute with ONNX Runtime's CPU alone, to compare")


def session_of(model, args):
    """A session of ONNX Runtime. Says where it computes."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if args.cpu:
        print("ONNX Runtime's CPU")
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    if args.library is None:
        try:
            import onnxruntime_ep_crisol
        except ImportError:
            raise SystemExit("install the package onnxruntime-ep-crisol, or name libcrisol_ort.so with --library") from None
        args.library = onnxruntime_ep_crisol.get_library_path()
    onnxruntime.register_execution_provider_library(PROVIDER, str(pathlib.Path(args.library).resolve()))
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == PROVIDER]
    if not devices:
        raise SystemExit("crisol finds no OpenCL device: `crisol doctor` says what is missing")
    print(dict(devices[0].ep_metadata)["device"])
    options.add_provider_for_devices(devices[:1], {})
    return onnxruntime.InferenceSession(model, options)
