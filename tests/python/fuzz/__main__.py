"""Random programs of crisol's functions, compared with NumPy in double, and with PyTorch where it is installed, random
layers and PyTorch's own samples of its functions compared with PyTorch, and random ONNX models compared with ONNX
Runtime where it is installed. Prints each difference as a small program, with the seed that repeats it.

    python tests/python/fuzz --seconds 600          # as long as that
    python tests/python/fuzz --seed 1 --number 270  # one program again
"""

import argparse
import importlib.util
import os
import pathlib
import sys
import time
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import compare
import layers
import programs
import samples

has_onnx = all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime"))
onnx_models = importlib.import_module("onnx_models") if has_onnx else None
kinds = ["values", "gradients", "layers", "samples", "onnx"]
progress = os.environ.get("CRISOL_TEST_PROGRESS")


def attempt(kind, seed, number):
    """What differs in one program, as text, or None."""
    random = np.random.default_rng([seed, number])
    if kind == "layers":
        return layers.difference(random)
    if kind == "samples":
        return samples.difference(random)
    if kind == "onnx":
        return onnx_models.attempt(random)
    program = programs.make(random, has_gradients=kind == "gradients")
    found = compare.difference(program)
    if found is None:
        return None
    small = compare.shrunk(program)
    again = compare.difference(small)
    return f"{(again or found)[1]}\n{small.text()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="how long to try programs")
    parser.add_argument("--seed", type=int, default=None, help="the seed; otherwise from the clock")
    parser.add_argument("--number", type=int, help="only the program of that number")
    parser.add_argument("--only", choices=kinds, help="only programs of this kind")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # NumPy and PyTorch warn about 0 / 0.
    seed = given.seed if given.seed is not None else int(time.time())
    has_torch = compare.torch_names is not None
    has = dict(values=True, gradients=True, layers=has_torch, samples=has_torch, onnx=onnx_models is not None)
    if given.only and not has[given.only]:
        parser.error(f"{given.only} needs {'onnx and onnxruntime' if given.only == 'onnx' else 'PyTorch'}")
    own = [given.only] if given.only else [kind for kind in kinds if has[kind]]
    end = time.monotonic() + given.seconds
    number = given.number or 0
    tried, findings = dict.fromkeys(own, 0), 0
    while given.number is not None or time.monotonic() < end:
        for kind in own:
            tried[kind] += 1
            if progress:  # tests/run.sh stops a test that makes no progress.
                pathlib.Path(progress).write_text(f"{kind} {number}")
            found = attempt(kind, seed, number)
            if found is not None:
                findings += 1
                print(f"[failed] --seed {seed} --number {number} --only {kind}: {found}\n", flush=True)
        if given.number is not None:
            break
        number += 1
    counts = ", ".join(f"{n} {kind}" for kind, n in tried.items())
    references = ["NumPy", *["PyTorch"] * has["layers"], *["ONNX Runtime"] * has["onnx"]]
    if has["onnx"]:
        for text, count in onnx_models.refusals.most_common():
            print(f"left out: {count} of {text}")
    print(f"fuzz: seed {seed}, compared with {', '.join(references)}: {counts}; {findings} differ")
    print(f"python: {sum(tried.values()) - findings} passed, {findings} failed, 0 skipped")
    return findings > 0


if __name__ == "__main__":
    sys.exit(main())
