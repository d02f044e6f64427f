"""Scopes as decorators: functions, generators, coroutines; modes of modules."""

import asyncio

import pytest

import crisol
from crisol import nn


def recording():
    return crisol.is_grad_enabled()


def test_decorated_function():
    @crisol.no_grad
    def plain(x):
        """Text."""
        return recording(), x

    @crisol.no_grad()
    def called():
        return recording()

    assert plain(2) == (False, 2) and plain.__doc__ == "Text." and plain.__name__ == "plain"
    assert called() is False and recording()


@pytest.mark.parametrize("mode", [crisol.no_grad, crisol.no_grad(), crisol.inference_mode, crisol.inference_mode()])
def test_each_step_of_a_generator_is_without_recording(mode):
    @mode
    def steps(count):
        """Text."""
        for _ in range(count):
            yield recording()
        return "end"

    assert steps.__doc__ == "Text."
    seen = []
    generator = steps(3)
    for inside in generator:
        seen.append((inside, recording()))  # The caller has its own mode between the steps.
    assert seen == [(False, True)] * 3
    with crisol.no_grad(), crisol.enable_grad():
        assert list(steps(1)) == [False] and recording()

    def outer():
        return (yield from steps(2))

    run = outer()
    assert [next(run), next(run)] == [False, False]
    with pytest.raises(StopIteration) as end:
        next(run)
    assert end.value.value == "end"


def test_generator_with_gradients():
    weight = nn.Parameter(crisol.ones((2,)))

    @crisol.no_grad
    def scaled():
        while True:
            yield weight * 2

    inside = next(scaled())
    assert not inside.requires_grad and (weight * 2).requires_grad


def test_send_throw_and_close():
    log = []

    @crisol.no_grad
    def echo():
        value = None
        try:
            while True:
                try:
                    value = yield (value, recording())
                except KeyError as error:
                    value = f"caught {error}", recording()
        finally:
            log.append(("closed", recording()))

    run = echo()
    assert next(run) == (None, False)
    assert run.send(3) == (3, False) and recording()
    assert run.throw(KeyError("k")) == (("caught 'k'", False), False) and recording()
    run.close()
    assert log == [("closed", False)] and recording()
    run = echo()
    next(run)
    with pytest.raises(ZeroDivisionError):
        run.throw(ZeroDivisionError())
    assert log[1:] == [("closed", False)] and recording()
    with pytest.raises(StopIteration):
        next(run)


def test_enable_grad_in_a_generator():
    @crisol.enable_grad
    def steps():
        yield recording()
        yield recording()

    with crisol.no_grad():
        assert [(inside, recording()) for inside in steps()] == [(True, False)] * 2

    @crisol.set_grad_enabled(False)
    def silent():
        yield recording()

    assert recording() and list(silent()) == [False] and recording()


def test_coroutines():
    @crisol.no_grad
    async def step(delay):
        first = recording()
        await asyncio.sleep(delay)
        return first, recording()

    async def both():
        pair = asyncio.gather(step(0.01), step(0))
        await asyncio.sleep(0)
        outside = recording()  # Both are suspended now.
        return [*await pair, outside, recording()]

    assert asyncio.run(both()) == [(False, False), (False, False), True, True]
    with pytest.raises(TypeError, match="asynchronous generator"):

        @crisol.no_grad
        async def generator():
            yield 1


def test_classes():
    with pytest.warns(FutureWarning, match="Noted"):

        @crisol.no_grad()
        class Noted:
            def __init__(self):
                self.inside = recording()

            def later(self):
                return recording()

    noted = Noted()
    assert not noted.inside and noted.later()


def test_set_grad_enabled_acts_at_once():
    crisol.set_grad_enabled(False)
    try:
        assert not recording()
        with crisol.set_grad_enabled(True):
            assert recording()
        assert not recording()
    finally:
        crisol.set_grad_enabled(True)
    assert recording()
    with crisol.inference_mode(False):
        assert recording()
    with crisol.no_grad(), crisol.inference_mode(mode=False):
        assert recording()


def test_precision_of_a_generator():
    @crisol.with_precision("fp16")
    def steps():
        yield crisol.get_precision()
        yield crisol.get_precision()

    before = crisol.get_precision()
    assert [(inside, crisol.get_precision()) for inside in steps()] == [("fp16", before)] * 2
    with crisol.with_precision("tf32"):
        assert crisol.get_precision() == "tf32"
    assert crisol.get_precision() == before
    with pytest.raises(ValueError, match="fp33"):
        crisol.with_precision("fp33")


def test_recursion():
    @crisol.no_grad()
    def fall(depth):
        return [recording()] + (fall(depth - 1) if depth else [])

    assert fall(3) == [False] * 4 and recording()


class Outer(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner, self.again = inner, nn.Sequential(inner, nn.ReLU())

    def forward(self, x):
        return self.inner(x)


def modes_of(net):
    return [module.training for module in net.modules()]


def test_training_is_the_mode_of_one_module():
    net = Outer(nn.Sequential(nn.Linear(2, 2), nn.Dropout()))
    net.inner.training = False
    assert not net.inner.training and net.inner[1].training and net.training
    net.train()
    assert all(modes_of(net))


@pytest.mark.parametrize("fails", [False, True])
def test_onnx_save_gives_each_mode_back(tmp_path, fails):
    class Failing(nn.Module):
        def forward(self, x):
            assert not self.training
            if fails:
                raise ZeroDivisionError
            return x

    # A shared child in another mode than both of its parents, and children in evaluation below a root in training.
    net = Outer(nn.Sequential(nn.Linear(4, 4), nn.Dropout(), Failing()))
    net.inner.eval()
    net.inner[1].training = True
    net.again.training = False
    before = modes_of(net)
    assert len(set(before)) == 2
    if fails:
        with pytest.raises(ZeroDivisionError):
            crisol.onnx.save(tmp_path / "net.onnx", net, crisol.ones((2, 4)))
    else:
        crisol.onnx.save(tmp_path / "net.onnx", net, crisol.ones((2, 4)))
    assert modes_of(net) == before
