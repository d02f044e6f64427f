"""Turns a state dict that PyTorch saved into a safetensors file, which crisol.load() reads.

    python -m crisol.from_pytorch model.pt model.safetensors

The names of crisol's layers are PyTorch's, so `net.load_state_dict(crisol.load("model.safetensors"))` fits a module of
the same structure. PyTorch is not needed, and no code in the file is run: only tensors in plain containers are read.
"""

import argparse
import io
import pickle
import zipfile
from collections import OrderedDict
from os import PathLike

import numpy as np

from ._crisol import asarray, save

__all__ = ["convert", "named", "read"]

_TYPES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "|b1",
    "BFloat16Storage": "bfloat16",
}


class _Unpickler(pickle.Unpickler):
    """Reads containers, numbers, texts and tensors, and refuses all other classes."""

    def __init__(self, file, read):
        super().__init__(file)
        self._read = read

    def find_class(self, module, name):
        if module in ("torch", "torch.storage") and name in _TYPES:
            return _TYPES[name]
        known = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
            ("torch._utils", "_rebuild_parameter"): lambda tensor, *_: tensor,
        }
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"the file holds a {module}.{name}: save net.state_dict(), not the net")
        return known[module, name]

    def persistent_load(self, key):
        kind, dtype, name, _, count = key
        if kind != "storage":
            raise pickle.UnpicklingError(f"the file holds a '{kind}', which is no storage")
        data = self._read(name)
        if dtype == "bfloat16":
            return (np.frombuffer(data, "<u2", count).astype("<u4") << 16).view("<f4")
        return np.frombuffer(data, dtype, count)


def _tensor(storage, offset, shape, strides, *_):
    last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides))
    if offset < 0 or min((*shape, *strides), default=0) < 0 or (0 not in shape and last >= len(storage)):
        raise pickle.UnpicklingError("a tensor lies outside its storage")
    bytes_of = [stride * storage.itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, bytes_of)


def read(path: str | PathLike[str]) -> dict[str, np.ndarray]:
    """The tensors of a file that torch.save wrote, as NumPy arrays by name."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is no file of torch.save, or one of a PyTorch before 1.6: save it again") from error
    with archive:
        pickled = next((name for name in archive.namelist() if name.endswith("/data.pkl")), None)
        if pickled is None:
            raise ValueError(f"{path} is an archive without data.pkl, so torch.save has not written it")
        folder = pickled[: -len("data.pkl")]
        order = folder + "byteorder"
        if order in archive.namelist() and archive.read(order) != b"little":
            raise ValueError(f"{path} was saved on a machine with the other byte order")
        unpickler = _Unpickler(io.BytesIO(archive.read(pickled)), lambda name: archive.read(f"{folder}data/{name}"))
        try:
            state = unpickler.load()
        except (KeyError, EOFError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ValueError(f"{path} is damaged, or holds something that is no state dict: {error}") from error
    while isinstance(state, dict) and isinstance(state.get("state_dict", state.get("model")), dict):
        state = state.get("state_dict", state.get("model"))  # A checkpoint that contains the state dict.
    if isinstance(state, np.ndarray):
        state = {"tensor": state}
    arrays = dict(_arrays("", state))
    if not arrays and not isinstance(state, dict):
        raise ValueError(f"{path} holds a {type(state).__name__}, not a state dict")
    return arrays


def _arrays(prefix, value):
    """The arrays in nested dicts and lists, with names such as "generator.fc.weight"."""
    if isinstance(value, np.ndarray):
        yield prefix, value
    elif isinstance(value, (dict, list, tuple)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _arrays(f"{prefix}.{key}" if prefix else str(key), part)


def named(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays under crisol's names, without the prefixes that PyTorch's wrappers add."""
    for prefix in ("module.", "_orig_mod."):  # DataParallel, torch.compile
        if arrays and all(name.startswith(prefix) for name in arrays):
            arrays = {name[len(prefix) :]: array for name, array in arrays.items()}
    return arrays


def convert(source: str | PathLike[str], target: str | PathLike[str]) -> list[str]:
    """Converts a file of torch.save to a safetensors file. Returns the names of its tensors."""
    arrays = named(read(source))
    if not arrays:
        raise ValueError(f"{source} holds no tensors")
    save({name: asarray(array) for name, array in arrays.items()}, target, metadata={"format": "pt"})
    return list(arrays)


def main() -> None:
    """The command: converts the file of the first argument, and writes the file of the second."""
    parser = argparse.ArgumentParser(prog="python -m crisol.from_pytorch", description=__doc__.split("\n")[0])
    parser.add_argument("source", help="file from torch.save(net.state_dict(), …)")
    parser.add_argument("target", help="file to write: *.safetensors")
    args = parser.parse_args()
    try:
        names = convert(args.source, args.target)
    except (OSError, ValueError, pickle.UnpicklingError, EOFError, KeyError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    print(f"{len(names)} tensors in {args.target}")


def __dir__():
    return __all__


if __name__ == "__main__":
    main()
