"""PyTorch's lists of modules and optimisers (module_db, optim_db) on the device against the CPU.

    infos.py [modules] [optimizers] [NAME…]

Prints a line for each entry that is wrong or that ran an op on the CPU, and the counts.
"""

import collections
import copy
import sys
from types import SimpleNamespace

import torch
import torch_crisol
from compare import DEVICE, assert_same, compare, copies, gradients, quiet, to_device
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db


def _check_module(info, sample, training):
    """Runs a sample of a module. Returns whether the CPU takes it."""
    if sample.forward_input is None:
        return False
    torch.manual_seed(0)
    with quiet():
        module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs).float()
        module.train(training)
        args, kwargs = sample.forward_input.args, sample.forward_input.kwargs
        if info.is_lazy:
            module(*args, **kwargs)
        twin = copy.deepcopy(module).to(DEVICE)
        their_args, their_kwargs = to_device((args, kwargs))
        op = SimpleNamespace(name=info.name)
        torch.manual_seed(1)
        try:
            expected = copies(copy.deepcopy(module)(*args, **kwargs))
        except RuntimeError:
            return False
        compare(
            op,
            lambda: copy.deepcopy(twin)(*their_args, **their_kwargs),
            lambda: copy.deepcopy(module)(*args, **kwargs),
            expected,
            info.name,
        )
        torch.manual_seed(1)
        wanted = (args, kwargs, list(module.parameters()))
        try:
            expected = gradients(lambda: module(*args, **kwargs), wanted)
        except RuntimeError:
            return True
        theirs = (their_args, their_kwargs, list(twin.parameters()))
        compare(
            op,
            lambda: gradients(lambda: twin(*their_args, **their_kwargs), theirs),
            lambda: gradients(lambda: module(*args, **kwargs), wanted),
            expected,
            f"gradient of {info.name}",
        )
        assert_same(list(twin.buffers()), list(module.buffers()), f"buffers of {info.name}")
    return True


def check_module(info, limit=6):
    """Compares a module of module_db for training and for evaluation. Returns the number of samples that ran."""
    ran = 0
    for training in (True, False):
        torch.manual_seed(0)
        samples = info.module_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=True, training=training
        )
        for sample in samples[:: max(1, len(samples) // limit)]:
            ran += _check_module(info, sample, training)
    return ran


def _trained(info, settings, device, steps=4):
    """The parameters and the state after a few steps."""
    generator = torch.Generator().manual_seed(3)
    shapes = [(4, 3), (5,), (), (2, 3, 2)] if info.optim_cls is not torch.optim.Muon else [(4, 3), (5, 2)]
    parameters = [torch.randn(shape, generator=generator).to(device).requires_grad_() for shape in shapes]
    targets = [torch.randn(shape, generator=generator).to(device) for shape in shapes]
    settings = {key: copy.deepcopy(value) for key, value in settings.items()}
    sign = -1 if settings.get("maximize") else 1  # The optimum is finite.
    if device == "cpu":
        settings.pop("capturable", None)
    optimizer = info.optim_cls(parameters, **settings)

    def closure():
        optimizer.zero_grad()
        loss = sign * sum(((p - t) ** 2).sum() for p, t in zip(parameters, targets, strict=True))
        loss.backward()
        return loss

    for _ in range(steps):
        if info.step_requires_closure:
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
    state = {key: value for key, value in optimizer.state_dict()["state"].items()}
    return [p.detach() for p in parameters], state


def settings_of(info):
    """The settings of an optimiser, in all forms of its steps."""
    found = {}
    for source in ("cpu", "cuda"):  # PyTorch has more settings for accelerators.
        with quiet():
            inputs = info.optim_inputs_func(device=source)
        for entry in inputs:
            for form in ("single", *(form for form in ("foreach", "fused") if form in info.supported_impls)):
                flags = {} if form == "single" else {form: True}
                if form == "single" and "foreach" in info.supported_impls:
                    flags = {"foreach": False}
                if entry.kwargs.get("capturable") and not info.has_capturable_arg:
                    continue
                found[f"{form} {entry.desc}"] = {**entry.kwargs, **flags}
    return found


def check_optimizer(info):
    """Compares an optimiser of optim_db with the CPU, in all its settings. Returns the number of runs."""
    ran = 0
    for name, settings in settings_of(info).items():
        with quiet():
            try:
                expected, state = _trained(info, settings, "cpu")
            except (RuntimeError, ValueError, AssertionError, TypeError):
                continue  # The CPU does not take these settings.
            actual, their_state = _trained(info, settings, DEVICE)
        assert_same(actual, expected, f"{info.optim_cls.__name__} {name}")
        for key, values in state.items():
            for part, value in values.items():
                if isinstance(value, torch.Tensor):
                    assert_same(their_state[key][part], value, f"{info.optim_cls.__name__} {name}: {part}")
        ran += 1
    return ran


MODULES = {info.name: info for info in module_db}
OPTIMIZERS = {info.optim_cls.__name__: info for info in optim_db if not info.only_supports_sparse_grads}


def main():
    kinds = {"modules": (MODULES, check_module), "optimizers": (OPTIMIZERS, check_optimizer)}
    names = [argument for argument in sys.argv[1:] if argument not in kinds]
    torch_crisol.set_fallback("silent")
    for kind in [argument for argument in sys.argv[1:] if argument in kinds] or kinds:
        infos, check = kinds[kind]
        counts, missing = collections.Counter(), collections.Counter()
        for name, info in infos.items():
            if names and name not in names:
                continue
            ran, text = 0, ""
            with torch_crisol.fallbacks() as notes:
                try:
                    ran = check(info)
                except Exception as error:
                    text = f"{type(error).__name__}: {error}"
            result = "wrong" if text else "not run" if not ran else "fallback" if notes else "native"
            counts[result] += 1
            missing.update(notes.keys())
            if result != "native":
                print(f"{result}: {name} {', '.join(sorted(notes))} {' '.join(text.split())[:600]}", flush=True)
        print(", ".join(f"{op.removeprefix('aten::')} {count}" for op, count in missing.most_common()))
        print(f"{kind}: " + ", ".join(f"{count} {result}" for result, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
