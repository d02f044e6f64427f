"""crisol.data and files: data sets from Python, loaders, tables, pictures, safetensors, checkpoints."""

import gc
import gzip
import struct
import subprocess
import sys
import threading
import weakref
from typing import NamedTuple

import crisol
import numpy as np
import pytest
from crisol import data, nn
from numeric import array_of


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
    assert np.concatenate([array_of(y) for _, y in batches]).tolist() == [i * i for i in range(10)]
    assert threading.get_ident() in dataset.threads and len(dataset.threads) > 1


def test_kinds_of_samples():
    for samples, dtype, shape in [
        ([1.5, 2.5], crisol.float32, (2,)),
        ([True, False], crisol.bool, (2,)),
        ([np.uint8(1), np.uint8(2)], crisol.uint8, (2,)),
        ([np.ones((3, 2)).T, np.ones((2, 3))], crisol.float64, (2, 2, 3)),
        ([crisol.zeros(2), crisol.ones(2)], crisol.float32, (2, 2)),
    ]:
        batch = next(iter(data.DataLoader(samples, batch_size=2)))
        assert batch.dtype is dtype and batch.shape == shape
        assert (array_of(batch) == np.stack([array_of(s) for s in samples])).all()


def test_shuffle():
    dataset = data.TensorDataset(crisol.arange(100))
    loader = data.DataLoader(dataset, batch_size=10, shuffle=True, seed=3, drop_last=True)
    first, second = ([int(i) for (x,) in loader for i in array_of(x)] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(100)) and first != second
    again = data.DataLoader(dataset, batch_size=10, shuffle=True, seed=3, num_workers=3)
    assert [int(i) for (x,) in again for i in array_of(x)] == first


def test_sampler():
    class Odd:
        def __len__(self):
            return 3

        def __iter__(self):
            return iter([5, 1, 3])

    loader = data.DataLoader(Squares(), batch_size=2, sampler=Odd())
    for _ in range(2):
        assert [array_of(y).tolist() for _, y in loader] == [[25, 1], [9]]
    with pytest.raises(crisol.InvalidArgumentError):
        data.DataLoader(Squares(), shuffle=True, sampler=Odd())


def test_state():
    dataset = data.TensorDataset(crisol.arange(20))
    loader = data.DataLoader(dataset, batch_size=4, shuffle=True)
    loop = iter(loader)
    next(loop), next(loop)
    state = loader.state_dict()
    rest = [array_of(x).tolist() for (x,) in loop]
    other = data.DataLoader(dataset, batch_size=4, shuffle=True)
    other.load_state_dict(state)
    assert [array_of(x).tolist() for (x,) in other] == rest
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
    assert [array_of(next(loop)[1]).tolist() for _ in range(2)] == [[0, 1], [4, 9]]
    with pytest.raises(KeyError) as raised:
        next(loop)
    assert raised.value is Fails.error
    with pytest.raises(KeyError):
        list(loader)

    class Uneven(Squares):
        def __getitem__(self, index):
            return np.zeros(index + 1, dtype=np.float32)

    with pytest.raises(crisol.InvalidArgumentError, match=r"sample 1 has a field of shape \(2\) and type float32"):
        list(data.DataLoader(Uneven(), batch_size=3))
    with pytest.raises(TypeError, match="complex"):
        list(data.DataLoader([1j]))
    with pytest.raises(TypeError, match="NoneType; give a collate_fn"):
        list(data.DataLoader([(1, None)]))
    with pytest.raises(TypeError, match="__getitem__"):
        data.DataLoader(3)
    assert list(data.DataLoader([])) == []
    with pytest.raises(NotImplementedError):
        data.DataLoader(data.Dataset())


def test_parts():
    dataset = data.TensorDataset(crisol.arange(10), crisol.arange(20).reshape(10, 2))
    sample = dataset[-1]
    assert [type(field) for field in sample] == [crisol.Tensor] * 2 and sample[0].shape == ()
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


def numbers(batches):
    return [int(i) for (x,) in batches for i in array_of(x)]


def test_loops_at_the_same_time():
    loader = data.DataLoader(data.TensorDataset(crisol.arange(10)), 2)
    pairs = [(a.tolist(), b.tolist()) for (a,), (b,) in zip(loader, loader)]
    assert pairs == [([i, i + 1],) * 2 for i in range(0, 10, 2)]
    seen = []
    for i, (x,) in enumerate(loader):
        seen += x.tolist()
        if i == 1:
            assert next(iter(loader))[0].tolist() == [0, 1]
        assert numbers(loader) == list(range(10))
    assert seen == list(range(10))
    shuffled = data.DataLoader(data.TensorDataset(crisol.arange(10)), 2, shuffle=True, seed=3)
    first, second = iter(shuffled), iter(shuffled)
    both = [(next(first)[0].tolist(), next(second)[0].tolist()) for _ in range(5)]
    orders = [sum(parts, []) for parts in zip(*both)]
    assert [sorted(order) for order in orders] == [list(range(10))] * 2 and orders[0] != orders[1]
    with pytest.raises(StopIteration):
        next(first)


def test_state_beside_another_loop():
    dataset = data.TensorDataset(crisol.arange(20))
    loader = data.DataLoader(dataset, batch_size=4, shuffle=True)
    loop, peek = iter(loader), iter(loader)
    next(peek), next(loop), next(loop)
    assert loader.position == (0, 2)
    state, rest = loader.state_dict(), numbers(loop)
    other = data.DataLoader(dataset, batch_size=4, shuffle=True)
    other.load_state_dict(state)
    assert numbers(other) == rest and len(rest) == 12
    for _ in loader:
        break
    assert loader.position[1] == 1  # A loop that was left.


def test_batches_are_nested_as_samples():
    class Sample(NamedTuple):
        x: object
        y: object

    tensor_loader = data.DataLoader([crisol.full((3,), float(i)) for i in range(4)], batch_size=2)
    assert [type(b) for b in tensor_loader] == [crisol.Tensor] * 2 and next(iter(tensor_loader)).shape == (2, 3)
    samples = [Sample(np.full(2, i), {"a": (i, [float(i), True]), "b": crisol.ones(1)}) for i in range(3)]
    batch = next(iter(data.DataLoader(samples, batch_size=3)))
    assert type(batch) is Sample and batch.x.shape == (3, 2) and batch.y["b"].shape == (3, 1)
    number, (value, flag) = batch.y["a"]
    assert number.tolist() == [0, 1, 2] and number.dtype is crisol.int64
    assert value.dtype is crisol.float32 and flag.dtype is crisol.bool
    names, y = next(iter(data.DataLoader([("cat", 0), ("dog", 1)], batch_size=2)))
    assert names == ["cat", "dog"] and y.tolist() == [0, 1] and y.dtype is crisol.int64
    with pytest.raises(ValueError, match="sample 1 has no tuple of 2 parts"):
        list(data.DataLoader([(1, (2, 3)), (1, (2, 3, 4))], batch_size=2))
    (x,) = next(iter(data.DataLoader(data.TensorDataset(np.ones((4, 3))), batch_size=4)))
    assert x.shape == (4, 3) and x.dtype is crisol.float64


def test_default_collate():
    assert data.default_collate([1.5, 2.5]).dtype is crisol.float32
    assert data.default_collate([crisol.ones(2), crisol.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert data.default_collate([{"x": np.float64(1), "t": "a"}] * 2)["t"] == ["a", "a"]
    with pytest.raises(TypeError, match="NoneType"):
        data.default_collate([None])


def test_samplers():
    dataset = data.TensorDataset(crisol.arange(10))
    order = data.RandomSampler(dataset, seed=3)
    assert sorted(order) == list(range(10)) and len(order) == 10 and list(order) != list(order)
    loader = data.DataLoader(dataset, batch_size=3, sampler=data.RandomSampler(dataset, seed=3))
    assert numbers(loader) == order.order(0) and numbers(loader) == order.order(1)
    assert numbers(loader) == numbers(data.DataLoader(dataset, 3, sampler=order.order(2)))
    assert list(data.SequentialSampler(dataset)) == list(range(10))
    many = list(data.RandomSampler(dataset, replacement=True, num_samples=100))
    assert len(many) == 100 and set(many) <= set(range(10)) and len(list(data.RandomSampler(4, num_samples=9))) == 9
    assert sorted(data.SubsetRandomSampler([3, 5, 8])) == [3, 5, 8]
    weighted = list(data.WeightedRandomSampler([0, 1, 3], 4000))
    assert set(weighted) == {1, 2} and 0.7 < weighted.count(2) / 4000 < 0.8
    assert sorted(data.WeightedRandomSampler([0, 1, 3], 2, replacement=False)) == [1, 2]
    assert list(data.RandomSampler(0)) == []
    with pytest.raises(ValueError, match="num_samples is 3, and there are no samples"):
        data.RandomSampler([], num_samples=3)
    with pytest.raises(ValueError, match="3 samples of 2"):
        data.WeightedRandomSampler(crisol.asarray([0.0, 1, 3]), 3, replacement=False)
    batches = data.BatchSampler(data.SequentialSampler(7), 3, drop_last=False)
    assert list(batches) == [[0, 1, 2], [3, 4, 5], [6]] and len(batches) == 3
    assert [x.tolist() for (x,) in data.DataLoader(dataset, batch_sampler=[[1, 2], [5]])] == [[1, 2], [5]]
    with pytest.raises(ValueError, match="batch_sampler"):
        data.DataLoader(dataset, shuffle=True, batch_sampler=batches)


def test_generators():
    dataset = data.TensorDataset(crisol.arange(50))

    def orders(seed):
        generator = crisol.Generator(seed)
        loader = data.DataLoader(dataset, 8, shuffle=True, generator=generator)
        return numbers(loader), numbers(loader)

    first, second = orders(1)
    assert (first, second) == orders(1) and first != second and orders(2)[0] != first
    assert sorted(first) == list(range(50))
    parts = [data.random_split(dataset, [0.5, 0.25, 0.25], generator=crisol.Generator(4)) for _ in range(2)]
    assert [p.indices for p in parts[0]] == [p.indices for p in parts[1]]
    assert [len(part) for part in parts[0]] == [26, 12, 12]


def test_subsets_and_joined_sets():
    dataset = data.TensorDataset(crisol.arange(4), crisol.arange(8).reshape(4, 2))
    item = data.Subset(dataset, [3, 1])[0]
    assert type(item[1]) is crisol.Tensor and item[0] == 3
    joined = data.ConcatDataset([data.Subset(dataset, [0, 2]), dataset, data.TensorDataset(*dataset.tensors)])
    assert len(joined) == 10 and joined[2][0] == 0 and joined[-1][0] == 3 and joined.cumulative_sizes == [2, 6, 10]
    batches = list(data.DataLoader(joined, batch_size=4))
    assert sum((x.tolist() for x, _ in batches), []) == [0, 2, 0, 1, 2, 3, 0, 1, 2, 3]
    mixed = Squares() + Squares(3)
    assert len(mixed) == 13 and mixed[11][1] == 1
    assert [y.tolist() for _, y in data.DataLoader(mixed, batch_size=13)][0][-3:] == [0, 1, 4]
    with pytest.raises(IndexError):
        mixed[13]
    with pytest.raises(crisol.InvalidArgumentError, match="shapes or types"):
        list(data.DataLoader(data.ConcatDataset([dataset, data.TensorDataset(crisol.arange(3))])))


def test_iterable_datasets():
    class Count(data.IterableDataset):
        def __iter__(self):
            return iter(({"x": i} for i in range(5)))

    loader = data.DataLoader(Count(), batch_size=2, num_workers=2, persistent_workers=True)
    for _ in range(2):
        assert [batch["x"].tolist() for batch in loader] == [[0, 1], [2, 3], [4]]
    assert len(list(data.DataLoader(Count(), batch_size=2, drop_last=True))) == 2
    assert [sample["x"] for sample in data.DataLoader(Count(), batch_size=None)] == list(range(5))
    with pytest.raises(TypeError, match="no position"):
        loader.state_dict()
    with pytest.raises(ValueError, match="shuffle"):
        data.DataLoader(Count(), shuffle=True)


def test_a_loader_in_a_cycle_is_collected():
    class Own(Squares):
        def collate(self, samples):
            return samples

    references = []
    for kind in range(4):
        dataset = Own(4)
        dataset.loader = data.DataLoader(dataset, batch_size=2, collate_fn=dataset.collate if kind == 1 else None)
        if kind == 2:
            dataset.loop = iter(dataset.loader)
            next(dataset.loop)
        if kind == 3:
            sampler = data.SequentialSampler(dataset)
            dataset.loader = sampler.loader = data.DataLoader(dataset, sampler=sampler)
        list(dataset.loader)
        references.append(weakref.ref(dataset))
        del dataset
    sampler = None
    gc.collect()
    assert [reference() for reference in references] == [None] * 4


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
    assert isinstance(pixels, crisol.Tensor) and isinstance(label, int)
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
    assert (array_of(data.read_image(tmp_path / "cat" / "1.png")) == pixels).all()
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
    assert array_of(table.numbers(["b", "a"])).tolist() == [[2.5, 1], [-1, 3]]
    assert array_of(table.numbers_except(["kind"])).tolist() == [[1, 2.5], [3, -1]]
    assert array_of(table.classes("kind")).tolist() == [0, 1] and table.class_names("kind") == ["x", "y"]
    assert array_of(table.classes("kind", ["y", "x"])).tolist() == [1, 0]
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
        assert loaded[name].dtype is value.dtype and (array_of(loaded[name]) == array_of(value)).all()
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
    assert array_of(crisol.load_npy(tmp_path / "x.npy")).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert {k: v.shape for k, v in crisol.load(tmp_path / "all.npz").items()} == {"x": (2,), "y": (3,)}
    with pytest.raises(FileNotFoundError):
        crisol.load_npy(tmp_path / "y.npy")


def test_safetensors_of_pypi(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(2, 3))
    crisol.save(net.state_dict(), tmp_path / "net.safetensors")
    arrays = safetensors.load_file(tmp_path / "net.safetensors")
    assert set(arrays) == set(net.state_dict())
    changed = {name: array_of(array + 1) for name, array in arrays.items()}
    safetensors.save_file(changed, tmp_path / "changed.safetensors")
    assert net.load_state_dict(crisol.load(tmp_path / "changed.safetensors")) == ([], [])
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(array_of(value), changed[name])


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
    expected = array_of(crisol.rand(3))
    loaded = crisol.load_checkpoint(tmp_path / "step")
    assert loaded.metadata == {"epoch": "3"} and loaded.generator[0] == 4 and not loaded.data
    net.load_state_dict(loaded.model)
    optimizer.load_state_dict(loaded.optimizer)
    schedule.load_state_dict(loaded.schedule)
    crisol.default_generator().set_state(loaded.generator)
    assert (array_of(crisol.rand(3)) == expected).all()
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


def test_files_keep_parameters(tmp_path):
    p = nn.Parameter(crisol.ones(2))
    value = {"p": p, "leaf": crisol.ones(1, requires_grad=True), "x": (p * 2).detach(), 5: crisol.zeros(1, dtype=bool)}
    crisol.save(value, tmp_path / "nested")
    found = crisol.load(tmp_path / "nested")
    assert isinstance(found["p"], nn.Parameter) and found["p"].requires_grad and found["leaf"].requires_grad
    assert not found["x"].requires_grad and found[5].tolist() == [False] and found["p"].tolist() == [1.0, 1.0]
    crisol.save(nn.Parameter(crisol.ones(1), requires_grad=False), tmp_path / "one")
    assert isinstance(crisol.load(tmp_path / "one"), nn.Parameter) and not crisol.load(tmp_path / "one").requires_grad
