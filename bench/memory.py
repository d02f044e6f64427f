#!/usr/bin/env python3
"""Peak memory of a network's steps: crisol's device memory against the growth of PyTorch's resident memory.

Both count parameters, gradients, optimiser state, activations and workspaces. PyTorch's libraries are loaded and used
before its growth is counted. `held` is the memory that crisol holds from OpenCL at the end, including memory kept for
reuse.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

here = Path(__file__).resolve().parent
NETS = ["simplecnn:64:train", "resnet18:8:train", "alexnet:8:train", "resnet18:8:infer"]


def ours(crisol, net, batch, mode):
    command = [crisol, "bench", "net", f"net={net}", f"batch={batch}", f"mode={mode}", "--repeat", "3", "--json"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return result["peak_bytes"], result["held_bytes"]


def peers(python, case):
    command = [python, here / "peer_torch.py", "--memory", case]
    # Limits glibc's arenas, because the memory of more arenas would count as PyTorch's.
    environment = dict(os.environ, MALLOC_ARENA_MAX="2")
    return int(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("nets", nargs="*", default=NETS, help="NET:BATCH:MODE as in crisol bench net")
parser.add_argument("--crisol", default=here.parent / "build/bin/crisol")
parser.add_argument("--peer-python", default="python3", help="Python of a venv with torch and torchvision")
options = parser.parse_args()
print(f"{'step':24} {'crisol MB':>10} {'held MB':>10} {'PyTorch MB':>11} {'ratio':>7}")
for case in options.nets:
    peak, held = ours(options.crisol, *case.split(":"))
    other = peers(options.peer_python, case)
    print(f"{case:24} {peak / 1e6:10.1f} {held / 1e6:10.1f} {other / 1e6:11.1f} {other / peak:7.2f}")
