"""Writes networks of torchvision as ONNX files, with random weights of seed 0, by both exporters of PyTorch:

    python3 -m venv VENV && VENV/bin/pip install torch torchvision onnx onnxscript
    VENV/bin/python tests/onnx/programs/export_models.py FOLDER

tests/onnx/run.sh --real --torch VENV/bin/python calls it.
"""
import pathlib
import sys
import warnings

import torch
import torchvision

NETS = ["resnet50", "mobilenet_v2", "efficientnet_b0", "vit_b_16"]
NAMES = {"input_names": ["images"], "output_names": ["logits"]}


def take_statistics(net, images):
    """Gives norms the statistics of these images. With the initial ones, values shrink from layer to layer until the
    results no longer depend on the images."""
    norms = [module for module in net.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.train().momentum = 1
    with torch.no_grad():
        net(images)
        net.eval()
        logits = net(images)
    assert (logits[0] - logits[1]).abs().max() > 0.1


def main(folder):
    warnings.filterwarnings("ignore")
    for name in NETS:
        torch.manual_seed(0)
        net = getattr(torchvision.models, name)(weights=None).eval()
        for parameter in net.parameters():
            if not parameter.any():  # Zero, so that what comes before would not matter.
                torch.nn.init.normal_(parameter, std=0.02)
        images = torch.randn(2, 3, 224, 224)
        take_statistics(net, images)
        torch.onnx.export(net, (images,), str(folder / f"{name}.onnx"), dynamo=True, verbose=False, external_data=False,
                          dynamic_shapes=({0: torch.export.Dim("N")},), **NAMES)  # fmt: skip
        torch.onnx.export(net, (images,), str(folder / f"{name}_script.onnx"), dynamo=False, opset_version=17,
                          dynamic_axes={"images": {0: "N"}, "logits": {0: "N"}}, **NAMES)  # fmt: skip


if __name__ == "__main__":
    FOLDER = pathlib.Path(sys.argv[1])
    FOLDER.mkdir(parents=True, exist_ok=True)
    main(FOLDER)
