"""MNIST's images for the samples of this folder."""

import gzip
from pathlib import Path

import torch


def read_idx(path: Path) -> torch.Tensor:
    """The bytes of an IDX file, with their shape."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    sizes = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return torch.frombuffer(bytearray(data[4 + 4 * len(sizes) :]), dtype=torch.uint8).reshape(sizes)


def file_of(folder: Path, name: str) -> Path:
    """The file of this name, gzipped or not."""
    found = sorted(folder.glob(f"{name}*"))
    if not found:
        raise SystemExit(f"--data: {folder} has no file {name} or {name}.gz")
    return found[0]


def images(folder: Path, part: str) -> torch.Tensor:
    """The images of a part, "train" or "t10k": (N, 1, 28, 28), from 0 to 1."""
    return read_idx(file_of(folder, f"{part}-images-idx3-ubyte"))[:, None] / 255


def labels(folder: Path, part: str) -> torch.Tensor:
    """The digits that the images of a part show: (N), int64."""
    return read_idx(file_of(folder, f"{part}-labels-idx1-ubyte")).long()
