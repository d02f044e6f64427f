"""crisol's Python package as a peer of compare.py: cases of `crisol bench` as a Python user writes them. So the ratio
tells what Python costs."""

import argparse
import pathlib
import sys

import crisol
from crisol import nn, optim
from crisol.nn import functional as F

from sampling import Unsupported, serve

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "samples/python"))
from mnist import make_net  # noqa: E402


def net_of(name):
    if name == "simplecnn":
        return make_net(), (1, 28, 28), 10
    return getattr(nn.models, name)(), (3, 224, 224), 1000


def net(keys):
    if keys["precision"] != "default" or keys["replay"] == "1":
        raise Unsupported("only precision=default replay=0")
    model, image, classes = net_of(keys["net"])
    batch = int(keys["batch"])
    x = crisol.randn(batch, *image)
    if keys["mode"] != "train":
        model.eval()
        run = crisol.compile(model, x) if keys["mode"] == "infer" else model
        return crisol.no_grad(lambda: run(x))
    labels = crisol.arange(batch) % classes
    adam = optim.Adam(model.parameters())

    def step():
        adam.zero_grad()
        F.cross_entropy(model(x), labels).backward()
        adam.step()

    return step


def launch(keys):
    if keys["what"] != "op":
        raise Unsupported("only what=op")
    a, b = crisol.ones(16), crisol.ones(16)
    return lambda: a + b


CASES = {"net": net, "launch": launch}


def prepare(case, keys):
    if case not in CASES:
        raise Unsupported(f"no {case}")
    return CASES[case](keys)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--seconds", type=float, default=1)
options = parser.parse_args()
device = crisol.device()
serve(prepare, options.seconds, {"peer": f"crisol {crisol.__version__} from Python"}, device.synchronize)
