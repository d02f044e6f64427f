"""Names what is in pictures: an ONNX classifier runs in ONNX Runtime on any OpenCL device."""

import argparse
import pathlib

import numpy as np
from PIL import Image
from session import add_arguments, session_of


def pixels(path, height, width):
    """The middle of a picture as (1, 3, height, width), scaled by the usual numbers for ImageNet."""
    image = Image.open(path).convert("RGB")
    scale = max(height / image.height, width / image.width)
    image = image.resize((max(width, round(image.width * scale)), max(height, round(image.height * scale))))
    left, top = (image.width - width) // 2, (image.height - height) // 2
    part = np.asarray(image.crop((left, top, left + width, top + height)), np.float32) / 255
    return ((part - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]).transpose(2, 0, 1)[None].astype(np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="file *.onnx with an input (N, 3, height, width)")
    parser.add_argument("pictures", nargs="+", help="PNG or JPEG files of any size")
    parser.add_argument("--labels", help="a text file with the name of a class in each line")
    add_arguments(parser)
    args = parser.parse_args()

    labels = pathlib.Path(args.labels).read_text().splitlines() if args.labels else []
    session = session_of(args.model, args)
    (images, *_) = session.get_inputs()
    height, width = (size if isinstance(size, int) else 224 for size in images.shape[2:])
    for path in args.pictures:
        logits = session.run(None, {images.name: pixels(path, height, width)})[0][0].astype(np.float64)
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        best = np.argsort(-shares)[:5]
        names = [labels[i] if i < len(labels) else str(i) for i in best]
        print(f"{path}: " + ", ".join(f"{name} {100 * shares[i]:.1f} %" for name, i in zip(names, best)))


if __name__ == "__main__":
    main()
