"""crisol.data and files: data sets from Python, loaders, tables, pictures, safetensors, checkpoints."""

import gzip
import struct
import subprocess
import sys
import threading

import crisol
import numpy as np
import pytest
from crisol import data, nn


class Squares(data.Dataset):
    def __init__(self, size=10):
        self.size = size
        self.threads = set()

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        self.threads.add(threading.get_ident())
        return np.full((2, 3), index, dtype=np.float32), index**2


def test_python_dataset():
    dataset = Squares()
    loader = data.DataLoader(dataset, batch_size=4, num_workers=2)
    assert len(loader) == 3 and loader.dataset is dataset
    batches = list(loader)
    assert [x.shape for x, _ in batches] == [(4, 2, 3), (4, 2, 3), (2, 2, 3)]
    assert [y.dtype for _, y in batches] == [crisol.int64] * 3
    assert np.concatenate([np.asarray(y) for _, y in batches]).tolist() == [i * i for i in range(10)]
    assert threading.get_ident() in dataset.threads and len(dataset.threads) > 1


def test_kinds_of_samples():
    for samples, dtype, shape in [
        ([1.5, 2.5], crisol.float32, (2,)),
        ([True, False], crisol.bool, (2,)),
        ([np.uint8(1), np.uint8(2)], crisol.uint8, (2,)),
        ([np.ones((3, 2)).T, np.ones((2, 3))], crisol.float32, (2, 2, 3)),
        ([crisol.zeros(2), crisol.ones(2)], crisol.float32, (2, 2)),
    ]:
        (batch,) = next(iter(data.DataLoader(samples, batch_size=2)))
        assert batch.dtype is dtype and batch.shape == shape
        assert (np.asarray(batch) == np.stack([np.asarray(s) for s in samples])).all()


def test_shuffle():
    dataset = data.TensorDataset(crisol.arange(100))
    loader = data.DataLoader(dataset, batch_size=10, shuffle=True, seed=3, drop_last=True)
    first, second = ([int(i) for (x,) in loader for i in np.asarray(x)] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(100)) and first != second
    again = data.DataLoader(dataset, batch_size=10, shuffle=True, seed=3, num_workers=3)
    assert [int(i) for (x,) in again for i in np.asarray(x)] == first


def test_sampler():
    class Odd:
        def __len__(self):
            return 3

        def __iter__(self):
            return iter([5, 1, 3])

    loader = data.DataLoader(Squares(), batch_size=2, sampler=Odd())
    for _ in range(2):
        assert [np.asarray(y).tolist() for _, y in loader] == [[25, 1], [9]]
    with pytest.raises(crisol.InvalidArgumentError):
        data.DataLoader(Squares(), shuffle=True, sampler=Odd())


def test_state():
    dataset = data.TensorDataset(crisol.arange(20))
    loader = data.DataLoader(dataset, batch_size=4, shuffle=True)
    loop = iter(loader)
    next(loop), next(loop)
    state = loader.state_dict()
    rest = [np.asarray(x).tolist() for (x,) in loop]
    other = data.DataLoader(dataset, batch_size=4, shuffle=True)
    other.load_state_dict(state)
    assert [np.asarray(x).tolist() for (x,) in other] == rest
    with pytest.raises(crisol.InvalidArgumentError):
        data.DataLoader(dataset, batch_size=5, shuffle=True).load_state_dict(state)


def test_exceptions_of_a_dataset():
    class Fails(Squares):
        error = KeyError("mine")

        def __getitem__(self, index):
            if index == 5:
                raise self.error
            return super().__getitem__(index)

    loader = data.DataLoader(Fails(), batch_size=2, num_workers=2)
    loop = iter(loader)
    assert [np.asarray(next(loop)[1]).tolist() for _ in range(2)] == [[0, 1], [4, 9]]
    with pytest.raises(KeyError) as raised:
        next(loop)
    assert raised.value is Fails.error
    with pytest.raises(KeyError):
        list(loader)

    class Uneven(Squares):
        def __getitem__(self, index):
            return np.zeros(index + 1, dtype=np.float32)

    with pytest.raises(crisol.InvalidArgumentError, match="sample 1 has a field of shape"):
        list(data.DataLoader(Uneven(), batch_size=3))
    with pytest.raises(TypeError, match="complex"):
        data.DataLoader([1j])
    with pytest.raises(TypeError, match="__getitem__"):
        data.DataLoader(3)
    with pytest.raises(ValueError, match="empty"):
        data.DataLoader([])
    with pytest.raises(NotImplementedError):
        data.DataLoader(data.Dataset())


def test_parts():
    dataset = data.TensorDataset(crisol.arange(10), crisol.arange(20).reshape(10, 2))
    sample = dataset[-1]
    assert sample[0] == 9 and sample[1].tolist() == [18, 19] and len(dataset) == 10
    with pytest.raises(IndexError):
        dataset[10]
    part = data.Subset(Squares(), [3, 1])
    assert len(part) == 2 and part[0][1] == 9 and part.indices == [3, 1]
    train, test = data.random_split(dataset, [7, 3], seed=1)
    assert sorted(train.indices + test.indices) == list(range(10))
    with pytest.raises(crisol.InvalidArgumentError):
        data.random_split(dataset, [7, 4])
    with pytest.raises(crisol.InvalidArgumentError):
        data.TensorDataset(crisol.arange(3), crisol.arange(4))


def write_idx(path, array):
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    with gzip.open(path, "wb") if path.suffix == ".gz" else open(path, "wb") as file:
        file.write(header + array.astype(np.uint8).tobytes())


def test_mnist(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28))
    write_idx(tmp_path / "train-images-idx3-ubyte.gz", images)
    write_idx(tmp_path / "train-labels-idx1-ubyte", np.arange(5))
    dataset = data.MNIST(tmp_path, mean=0.5, std=0.25)
    pixels, label = dataset[3]
    assert label == 3 and pixels.shape == (1, 28, 28)
    np.testing.assert_allclose(pixels[0], (images[3] / 255 - 0.5) / 0.25, rtol=1e-5, atol=1e-5)
    same = data.read_idx(tmp_path / "train-images-idx3-ubyte.gz", tmp_path / "train-labels-idx1-ubyte")
    assert len(same) == 5
    with pytest.raises(FileNotFoundError):
        data.MNIST(tmp_path / "missing")
    with pytest.raises(OSError, match="t10k"):
        data.MNIST(tmp_path, train=False)


def test_pictures(tmp_path):
    import zlib

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 3), dtype=np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 5, 4, 8, 2, 0, 0, 0))
    png += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.png").write_bytes(png)
    assert (np.asarray(data.read_image(tmp_path / "cat" / "1.png")) == pixels).all()
    folder = data.ImageFolder(tmp_path, size=(4, 5))
    assert folder.classes == ["cat", "dog"] and folder.path(1).endswith("dog/1.png")
    picture, label = folder[1]
    assert label == 1
    np.testing.assert_allclose(picture, pixels.transpose(2, 0, 1) / 255, atol=1e-6)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        data.read_image(tmp_path / "none.png")
    (tmp_path / "broken.png").write_bytes(b"text")
    with pytest.raises(crisol.FileError):
        data.read_image(tmp_path / "broken.png")


def test_table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a;kind;b\n1;x;2.5\n3;y;-1\n")
    table = data.Csv(path, separator=";")
    assert len(table) == 2 and table.columns == ["a", "kind", "b"] and table.text(1, "kind") == "y"
    assert np.asarray(table.numbers(["b", "a"])).tolist() == [[2.5, 1], [-1, 3]]
    assert np.asarray(table.numbers_except(["kind"])).tolist() == [[1, 2.5], [3, -1]]
    assert np.asarray(table.classes("kind")).tolist() == [0, 1] and table.class_names("kind") == ["x", "y"]
    assert np.asarray(table.classes("kind", ["y", "x"])).tolist() == [1, 0]
    with pytest.raises(FileNotFoundError):
        data.Csv(str(tmp_path / "missing.csv"))
    with pytest.raises(OSError, match="line 2"):
        table.numbers(["kind"])


def test_save_and_load(tmp_path):
    path = tmp_path / "tensors.safetensors"
    tensors = {"b": crisol.arange(3), "a": crisol.randn((2, 2)), "flags": crisol.asarray([True, False])}
    crisol.save(tensors, path, metadata={"note": "text"})
    loaded = crisol.load(str(path))
    assert list(loaded) == ["b", "a", "flags"] and crisol.load_metadata(path) == {"note": "text"}
    for name, value in tensors.items():
        assert loaded[name].dtype is value.dtype and (np.asarray(loaded[name]) == np.asarray(value)).all()
    assert crisol.load(path, device=crisol.device())["b"].device == crisol.device()
    with pytest.raises(FileNotFoundError) as raised:
        crisol.load(tmp_path / "missing.safetensors")
    assert isinstance(raised.value, crisol.Error)
    (tmp_path / "broken.safetensors").write_bytes(b"12345678901234567890")
    with pytest.raises(crisol.FileError, match="broken"):
        crisol.load(tmp_path / "broken.safetensors")
    with pytest.raises(crisol.FileError):
        crisol.save(tensors, tmp_path / "no" / "folder")


def test_numpy_files(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(2, 3))
    np.savez(tmp_path / "all.npz", x=np.ones(2, dtype=np.float32), y=np.arange(3))
    assert np.asarray(crisol.load_npy(tmp_path / "x.npy")).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert {k: v.shape for k, v in crisol.load(tmp_path / "all.npz").items()} == {"x": (2,), "y": (3,)}
    with pytest.raises(FileNotFoundError):
        crisol.load_npy(tmp_path / "y.npy")


def test_safetensors_of_pypi(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(2, 3))
    crisol.save(net.state_dict(), tmp_path / "net.safetensors")
    arrays = safetensors.load_file(tmp_path / "net.safetensors")
    assert set(arrays) == set(net.state_dict())
    changed = {name: np.asarray(array + 1) for name, array in arrays.items()}
    safetensors.save_file(changed, tmp_path / "changed.safetensors")
    assert net.load_state_dict(crisol.load(tmp_path / "changed.safetensors")) == ([], [])
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(np.asarray(value), changed[name])


def test_checkpoint(tmp_path):
    net = nn.Linear(2, 2)
    optimizer = crisol.optim.Adam(net.parameters())
    schedule = crisol.optim.lr_scheduler.StepLR(optimizer, 1)
    crisol.manual_seed(4)
    crisol.rand(7)
    saved = crisol.Checkpoint(
        model=net.state_dict(),
        optimizer=optimizer.state_dict(),
        schedule=schedule.state_dict(),
        metadata={"epoch": "3"},
    )
    crisol.save_checkpoint(tmp_path / "step", saved)
    expected = np.asarray(crisol.rand(3))
    loaded = crisol.load_checkpoint(tmp_path / "step")
    assert loaded.metadata == {"epoch": "3"} and loaded.generator[0] == 4 and not loaded.data
    net.load_state_dict(loaded.model)
    optimizer.load_state_dict(loaded.optimizer)
    schedule.load_state_dict(loaded.schedule)
    crisol.default_generator().set_state(loaded.generator)
    assert (np.asarray(crisol.rand(3)) == expected).all()
    with pytest.raises(FileNotFoundError):
        crisol.load_checkpoint(tmp_path / "none")


def test_exit_in_the_middle_of_an_epoch():
    program = """
import crisol
class Slow:
    def __len__(self): return 1000
    def __getitem__(self, i): return [float(i)] * 10
loader = crisol.data.DataLoader(Slow(), batch_size=2, num_workers=3)
loop = iter(loader)
print(next(loop)[0].shape)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_samples_that_are_dicts():
    samples = [{"x": np.full(2, i, np.float32), "y": i} for i in range(5)]
    batches = list(data.DataLoader(samples, batch_size=2, pin_memory=True))
    assert [list(b) for b in batches] == [["x", "y"]] * 3
    assert [b["y"].tolist() for b in batches] == [[0, 1], [2, 3], [4]] and batches[1]["x"].shape == (2, 2)
    with pytest.raises(ValueError, match="sample 1 has the names"):
        list(data.DataLoader([{"x": 1}, {"y": 2}], batch_size=2))


def test_collate_fn():
    texts = ["a", "bb", "ccc", "dddd", "e"]
    loader = data.DataLoader(texts, batch_size=2, collate_fn="-".join)
    assert list(loader) == ["a-bb", "ccc-dddd", "e"] and len(loader) == 3
    loader = data.DataLoader(texts, batch_size=2, shuffle=True, seed=1, collate_fn=list, drop_last=True)
    batches = list(loader)
    assert [len(b) for b in batches] == [2, 2] and set(sum(batches, [])) < set(texts)
