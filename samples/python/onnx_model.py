"""Runs an ONNX model on random inputs, or on arrays in a .npz file, and shows its outputs."""

import argparse

import crisol
from crisol import onnx


def example(value, batch):
    """A random tensor for an input. Sizes that the file does not fix become `batch`."""
    shape = [size if isinstance(size, int) else batch for size in value.shape or ()]
    if value.type == "f32":
        return crisol.randn(shape)
    if value.type in ("i64", "i32"):
        return crisol.randint(0, 2, shape).to(crisol.int64 if value.type == "i64" else crisol.int32)
    raise SystemExit(f"give the input '{value.name}' of type {value.type} in a .npz file")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="file *.onnx")
    parser.add_argument("--inputs", help="file *.npz with an array for each input, by name")
    parser.add_argument("--batch", type=int, default=1, help="the size of open axes (default: %(default)s)")
    parser.add_argument("--profile", action="store_true", help="show the time of each op")
    args = parser.parse_args()

    model = onnx.load(args.model)
    if args.inputs:
        inputs = crisol.load(args.inputs)
    else:
        inputs = {value.name: example(value, args.batch) for value in model.inputs}
    with crisol.no_grad():
        for name, y in model(inputs).items():
            print(f"{name} {tuple(y.shape)}:\n{y}")
        if args.profile:
            for row in model.profile(inputs):
                print(f"{row['op']:20} {row['nodes']:5} nodes {row['total_ms']:9.3f} ms")


if __name__ == "__main__":
    main()
