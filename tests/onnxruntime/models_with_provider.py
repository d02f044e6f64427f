"""Real models through ONNX Runtime with crisol's provider: tests/onnxruntime/run.sh --models starts this program.

The models are those of tests/onnx/run.sh --real. For each model the outputs are compared with those of ONNX Runtime's
CPU, and no node with multiply-adds may stay there: then all multiply-adds of the model are crisol's.
"""
import argparse
import os
import pathlib
import sys

import numpy as np

from provider import CPU, register, session_of

import real_models

# Ops whose work is multiply-adds, and ops with graphs within them.
MULTIPLY_ADDS = {"Attention", "Conv", "ConvInteger", "ConvTranspose", "DeformConv", "Einsum", "FusedConv", "FusedGemm",
                 "FusedMatMul", "Gemm", "GRU", "LSTM", "MatMul", "MatMulInteger", "QLinearConv", "QLinearMatMul", "RNN"}
WITH_GRAPHS = {"If", "Loop", "Scan"}


def nodes_left(session):
    """The ops of the nodes that ONNX Runtime's CPU computes. Nothing for versions before 1.24, which do not tell."""
    if not hasattr(session, "get_provider_graph_assignment_info"):
        return []
    return [node.op_type for part in session.get_provider_graph_assignment_info() if part.ep_name == CPU
            for node in part.get_nodes()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libcrisol_ort.so")
    parser.add_argument("--only", default="", help="models whose file name contains this text")
    parser.add_argument("--torchvision", metavar="FOLDER", help="also the networks in this folder, for images of 224 x 224")
    parser.add_argument("--time", metavar="SECONDS", type=float, default=0,
                        help="measure the provider, crisol itself and ONNX Runtime's CPU in turns, each for so long")
    options = parser.parse_args()
    devices = register(options.library)
    assert devices, "the provider has no device"
    rows = [(real_models.model_file(package, name), cases) for package, name, cases in real_models.MODELS
            if options.only in name]
    if options.torchvision:
        images = {"images": real_models.normal(1, 3, 224, 224)}
        rows += [(path, [images]) for path in sorted(pathlib.Path(options.torchvision).glob("*.onnx"))
                 if options.only in path.name]
    crisol = real_models.Library(pathlib.Path(options.library).with_name("libcrisol.so")) if options.time else None
    ratios, faults = [], 0
    for path, cases in rows:
        if progress := os.environ.get("CRISOL_TEST_PROGRESS"):
            pathlib.Path(progress).write_text(path.name)  # For tests/watch.sh.
        session, alone = session_of(str(path), devices), real_models.session_of(str(path))
        left = nodes_left(session)
        heavy = [op for op in left if op in MULTIPLY_ADDS | WITH_GRAPHS]
        for case in cases:
            random = np.random.default_rng(0)
            inputs = {name: make(random) for name, make in case.items()}
            expected = alone.run(None, inputs)
            # The second run works in ONNX Runtime's memory.
            worst = max(max(map(real_models.difference, session.run(None, inputs), expected)) for _ in range(2))
            is_right = worst <= real_models.TOLERANCE and not heavy
            faults += not is_right
            text = f"{path.name:36} {'right' if is_right else 'wrong'} {worst:.1e}, {len(left)} nodes left"
            if heavy:
                text += f", with multiply-adds: {' '.join(heavy)}"
            if crisol and case is cases[-1]:
                timed = crisol.prepared_run(crisol.load(path), inputs)
                own, peer, cpu = real_models.medians(
                    [lambda: session.run(None, inputs), timed, lambda: alone.run(None, inputs)], options.time)
                ratios.append((own / peer, cpu / own))
                text += f"  provider {own:.3f} ms, {own / peer:.3f} of crisol's time, {cpu / own:.2f} of onnxruntime's speed"
            print(text, flush=True)
    if ratios:
        means = np.exp(np.mean(np.log(ratios), axis=0))
        print(f"geometric means: {means[0]:.3f} of crisol's time, {means[1]:.2f} of onnxruntime's speed")
    count = sum(len(cases) for _, cases in rows)
    print(f"ort: {count - faults} passed, {faults} failed, 0 skipped")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
