"""python_ranks.py [--mpi4py]: checks crisol.distributed on the ranks of mpirun. An error on any rank ends the run.

With --mpi4py, mpi4py starts MPI before and uses it in between.
"""

import sys

if "--mpi4py" in sys.argv:
    from mpi4py import MPI
else:
    MPI = None

import crisol
import numpy as np
from crisol import data, nn
from crisol import distributed as dist
from crisol.nn import functional as F

dist.init()
RANK, WORLD = dist.rank(), dist.world()


def message_of(kind, function):
    """The text of the error that the function raises, whose class is `kind`."""
    try:
        function()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def whole(x):
    """The elements of the same array on all ranks, by rank."""
    return np.asarray(dist.all_gather(crisol.asarray(x[None])))


def check_places():
    assert 0 <= RANK < WORLD and dist.initialized()
    assert dist.local_rank() == RANK and dist.local_world() == WORLD
    assert whole(np.array(RANK, dtype=np.int32)).tolist() == list(range(WORLD))
    assert "called before" in message_of(crisol.InvalidArgumentError, dist.init)


def check_collectives():
    generator = np.random.default_rng(RANK)
    for dtype in (np.float32, np.float16, np.int32, np.int64, np.uint8, np.bool_):
        own = generator.integers(0, 2 if dtype is np.bool_ else 20, (2 * WORLD, 5)).astype(dtype)
        all_values = whole(own)
        for op, expected in (("sum", np.sum), ("mean", np.mean), ("min", np.min), ("max", np.max)):
            if op == "mean" and not np.issubdtype(dtype, np.floating):
                continue
            expected = expected(all_values, axis=0).astype(dtype)
            x = crisol.asarray(own)
            dist.all_reduce(x, op)
            np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-3)
            part = dist.reduce_scatter(crisol.asarray(own), op)
            np.testing.assert_allclose(np.asarray(part), expected[2 * RANK : 2 * RANK + 2], rtol=1e-3)
        x = crisol.asarray(own)
        dist.broadcast(x, root=WORLD - 1)
        assert np.array_equal(np.asarray(x), all_values[WORLD - 1])
    dist.barrier()


def check_errors():
    x = crisol.ones(2 + RANK)
    text = message_of(crisol.InvalidArgumentError, lambda: dist.all_reduce(x))
    assert WORLD == 1 or "rank 0: all_reduce sum of float32 (2); rank 1: all_reduce sum of float32 (3)" in text
    assert "op is 'product'" in message_of(ValueError, lambda: dist.all_reduce(x, "product"))
    assert "op is 'product'" in message_of(ValueError, lambda: dist.reduce_scatter(x, "product"))
    message_of(TypeError, lambda: dist.all_reduce([1.0]))
    assert x.tolist() == [1.0] * (2 + RANK)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(6, 9), nn.BatchNorm2d(3), nn.Linear(9, 4)

    def forward(self, x, scale=1.0):
        hidden = self.norm(F.relu(self.first(x)).reshape(-1, 3, 3, 1)).flatten(1)
        return self.second(hidden) * scale


SAMPLES = 4 * WORLD + 1
PART = slice(SAMPLES * RANK // WORLD, SAMPLES * (RANK + 1) // WORLD)
OWN = PART.stop - PART.start


def samples():
    generator = np.random.default_rng(3)
    return (
        crisol.asarray(generator.standard_normal((SAMPLES, 6), dtype=np.float32)),
        crisol.asarray(generator.integers(0, 4, SAMPLES)),
    )


def weights_of(net):
    return np.concatenate([np.asarray(x.detach()).ravel() for x in net.parameters()])


def trained_alone(steps=8):
    crisol.manual_seed(5)
    net, (x, labels) = Net(), samples()
    optimizer = crisol.optim.Adam(net.parameters(), 0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(net(x), labels).backward()
        optimizer.step()
    return net, optimizer


def start():
    """A net with the weights of rank 0, and this rank's samples."""
    crisol.manual_seed(5 + RANK)
    net, (x, labels) = Net(), samples()
    assert dist.sync_batch_norm(net) == 1
    return net, x[PART], labels[PART]


def check_data_parallel():
    expected, _ = trained_alone()
    for settings in ({}, {"bucket_bytes": 200, "first_bucket_bytes": 20, "check_every": 3}, {"overlap": False}):
        net, x, labels = start()
        optimizer = crisol.optim.Adam(net.parameters(), 0.02)
        model = dist.DataParallel(net, **settings)
        model.set_weight(OWN)
        seen = []
        net.second.weight.register_post_accumulate_grad_hook(lambda leaf, seen=seen: seen.append(leaf.shape))
        for _ in range(8):
            optimizer.zero_grad()
            F.cross_entropy(model(x, scale=1.0), labels).backward()
            optimizer.step()
        model.check_weights()
        np.testing.assert_allclose(weights_of(net), weights_of(expected), atol=2e-4)
        all_weights = whole(weights_of(net))
        assert (all_weights == all_weights[0]).all() and len(seen) == 8
        assert model.buckets == (1 if "bucket_bytes" not in settings else 6), model.buckets


def check_missing_gradient():
    if WORLD == 1:
        return
    net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    model, x = dist.DataParallel(net), crisol.ones((5, 3))
    loss = (net[0](x) if RANK == 1 else model(x)).sum()
    text = message_of(crisol.InvalidArgumentError, loss.backward)
    assert "the parameter 1.weight of shape (2, 4) got no gradient on rank 1, but on rank 0" in text, text


def check_sharded_optimizer():
    expected, undivided = trained_alone()
    net, x, labels = start()
    made = []

    def make(parts):
        made.extend(parts)
        return crisol.optim.Adam(parts, 0.02)

    optimizer = dist.ShardedOptimizer(net.named_parameters(), make)
    assert sum(part.size for part in made) < 1.2 * weights_of(net).size / WORLD + 64
    schedule = crisol.optim.lr_scheduler.StepLR(optimizer.own, 100)
    optimizer.set_weight(OWN)
    for _ in range(8):
        optimizer.zero_grad()
        F.cross_entropy(net(x), labels).backward()
        optimizer.step()
        schedule.step()
    np.testing.assert_allclose(weights_of(net), weights_of(expected), atol=2e-4)
    optimizer.zero_grad()
    F.cross_entropy(net(x), labels).backward()
    norm = optimizer.clip_grad_norm(1e-3)
    assert norm > 1e-2 and abs(optimizer.clip_grad_norm(1.0) - 1e-3) < 1e-5
    optimizer.step()
    state = optimizer.state_dict()
    assert state.keys() == undivided.state_dict().keys()
    undivided.load_state_dict(state)
    undivided.param_groups[0]["lr"] = 0.0625
    optimizer.load_state_dict(undivided.state_dict())
    assert optimizer.own.param_groups[0]["lr"] == 0.0625
    again, loaded = optimizer.state_dict()["state"], undivided.state_dict()["state"]
    assert again.keys() == loaded.keys() and len(again) == len(list(net.parameters()))
    for number, entry in loaded.items():
        for name, value in entry.items():
            np.testing.assert_array_equal(again[number][name].numpy(), value.numpy())

    def raise_error(parts):
        raise RuntimeError("no optimiser today")

    parameters = dict(net.named_parameters())
    assert "today" in message_of(RuntimeError, lambda: dist.ShardedOptimizer(parameters, raise_error))
    message_of(Exception, lambda: dist.ShardedOptimizer(parameters, lambda parts: 3))
    message_of(crisol.InvalidArgumentError, lambda: dist.ShardedOptimizer(parameters, lambda parts: None))


def check_sampler():
    order = data.RandomSampler(23, seed=4)
    own = data.ShardedSampler(order, 2 * WORLD, RANK, WORLD)
    indices = [int(i) for (batch,) in data.DataLoader(Rows(23), own.local_batch_size, sampler=own) for i in batch]
    assert indices == own.order(0) and len(own) == len(indices)
    mask = np.zeros(23, dtype=np.int32)
    mask[indices] = 1
    assert (whole(mask).sum(axis=0) == 1).all()
    assert sorted(order.order(1)) == data.SequentialSampler(23).order(0) and order.order(0) != order.order(1)


class Rows:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return (np.int64(index),)


def check_beside_mpi4py():
    if MPI is None:
        return
    assert MPI.COMM_WORLD.Get_rank() == RANK and MPI.COMM_WORLD.Get_size() == WORLD
    x = crisol.full((1000,), float(RANK))
    dist.all_reduce(x)
    assert MPI.COMM_WORLD.allreduce(RANK) == x[0].item()


for name, check in list(globals().items()):
    if name.startswith("check_"):
        check()
        if RANK == 0:
            print(f"{name}: passed", flush=True)
dist.finish()
assert not dist.initialized()
if MPI is not None:
    assert MPI.COMM_WORLD.allreduce(1) == WORLD
