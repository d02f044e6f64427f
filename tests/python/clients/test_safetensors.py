"""safetensors: files of crisol and files of the safetensors package, in both directions."""

import crisol
import numpy as np
import safetensors
import safetensors.numpy

ARRAYS = {
    "weight": np.arange(12, dtype=np.float32).reshape(3, 4) / 7,
    "half": np.array([1.5, -2.25], dtype=np.float16),
    "steps": np.array([[2**40], [-1]], dtype=np.int64),
    "mask": np.array([True, False, True]),
    "scalar": np.array(3, dtype=np.int32),
    "bytes": np.array([0, 255], dtype=np.uint8),
}


def equal(tensors):
    assert set(tensors) == set(ARRAYS)
    for name, array in ARRAYS.items():
        got = np.asarray(tensors[name])
        assert got.dtype == array.dtype and np.array_equal(got, array), name


def test_bytes_of_safetensors():
    data = safetensors.numpy.save(ARRAYS)
    tensors = {name: crisol.asarray(array) for name, array in safetensors.numpy.load(data).items()}
    equal(tensors)


def test_files_in_both_directions(tmp_path):
    safetensors.numpy.save_file(ARRAYS, tmp_path / "theirs.safetensors")
    loaded = crisol.load(str(tmp_path / "theirs.safetensors"))
    equal(loaded)
    crisol.save(loaded, str(tmp_path / "ours.safetensors"))
    equal(safetensors.numpy.load_file(tmp_path / "ours.safetensors"))
    with safetensors.safe_open(str(tmp_path / "ours.safetensors"), framework="numpy") as file:
        assert np.array_equal(file.get_slice("weight")[1:, :2], ARRAYS["weight"][1:, :2])
