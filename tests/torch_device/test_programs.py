"""Programs as tutorials write them. The device's name is the only difference, and the numbers are those of the CPU."""

import copy
import pickle

import pytest
import torch
import torch.nn.functional as F
from compare import DEVICE, native
from torch import nn
from torch.nn.utils import parametrizations, parametrize
from torch.optim import lr_scheduler, swa_utils
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
from torch.utils.data import DataLoader, RandomSampler, TensorDataset, WeightedRandomSampler, random_split


def data(device="cpu"):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, 8, generator=generator)
    return x.to(device), (x @ torch.randn(8, 4, generator=generator)).argmax(1).to(device)


def net(device, *layers):
    return nn.Sequential(*(layers or (nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)))).to(device)


def steps(model, optimizer, count=3, scheduler=None):
    """The losses of a few steps."""
    x, labels = data(next(model.parameters()).device)
    for _ in range(count):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
            yield optimizer.param_groups[0]["lr"]
        yield loss.item()


def samplers(device):
    x, labels = data()
    generator = torch.Generator().manual_seed(1)
    weights = torch.arange(1.0, 65)
    model = net(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for sampler in (RandomSampler(x, generator=generator), WeightedRandomSampler(weights, 64, generator=generator)):
        for part, answers in DataLoader(TensorDataset(x, labels), 16, sampler=sampler, pin_memory=True):
            optimizer.zero_grad(set_to_none=False)
            loss = F.cross_entropy(model(part.to(device, non_blocking=True)), answers.to(device))
            loss.backward()
            optimizer.step()
            yield loss.item()


def data_on_the_device(device):
    training, validation = random_split(TensorDataset(*data(device)), [48, 16], torch.Generator().manual_seed(1))
    model = net(device)
    optimizer = torch.optim.RMSprop(model.parameters(), 0.01, momentum=0.9, centered=True)
    for number, (x, labels) in enumerate(DataLoader(training, 8)):
        (F.cross_entropy(model(x), labels, label_smoothing=0.1) / 2).backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
    with torch.inference_mode():
        for x, labels in DataLoader(validation, 16):
            yield F.cross_entropy(model(x), labels).item()


SCHEDULERS = [
    lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2),
    lambda o: lr_scheduler.OneCycleLR(o, 0.2, total_steps=4),
    lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, 0.1, total_iters=2), lr_scheduler.ExponentialLR(o, 0.9)], [2]
    ),
]


def schedulers(device):
    for make in SCHEDULERS:
        model = net(device)
        optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True)
        yield from steps(model, optimizer, 3, make(optimizer))


OPTIMIZERS = [
    torch.optim.Adadelta, torch.optim.Adagrad, torch.optim.Adamax, torch.optim.ASGD, torch.optim.NAdam,
    torch.optim.RAdam, torch.optim.Rprop, torch.optim.Adafactor,
    lambda p: torch.optim.Adagrad(p, 0.1, lr_decay=0.1, weight_decay=0.01, fused=True),
    lambda p: torch.optim.Adagrad(p, torch.tensor(0.1), maximize=True, fused=True),
    lambda p: torch.optim.Adam(p, 0.01, amsgrad=True, weight_decay=0.1, fused=True),
]  # fmt: skip


def optimizers(device):
    for make in OPTIMIZERS:
        model = net(device)
        yield from steps(model, make(model.parameters()))


def clipped_gradients(device):
    x, labels = data(device)
    for foreach in (True, False):
        model = net(device)
        F.cross_entropy(model(x), labels).mul(10).backward()
        yield nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=foreach).item()
        nn.utils.clip_grad_value_(model.parameters(), 0.1, foreach=foreach)
        yield nn.utils.get_total_norm([p.grad for p in model.parameters()], float("inf")).item()


def checkpoints(device):
    x, labels = data(device)
    model = net(device, *[nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(4)], nn.Linear(8, 4))
    for reentrant in (True, False):
        x = x.detach().requires_grad_()
        h = checkpoint(model[0], x, use_reentrant=reentrant)
        loss = F.cross_entropy(checkpoint_sequential(model[1:], 2, h, use_reentrant=reentrant), labels)
        loss.backward()
        yield from (loss.item(), x.grad.norm().item())


def hooks(device):
    (x, labels), model = data(device), net(device)
    seen = []
    model[0].register_forward_hook(lambda module, inputs, output: seen.append(output.mean().item()))
    model[2].register_full_backward_hook(lambda module, inputs, outputs: seen.append(outputs[0].abs().sum().item()))
    model[2].register_forward_pre_hook(lambda module, inputs: (inputs[0] * 0.5,))
    model[0].weight.register_hook(lambda gradient: gradient * 2)
    model[0].weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.norm().item()))
    with torch.autograd.graph.save_on_cpu():
        F.cross_entropy(model(x), labels).backward()
    return seen


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT


def weights_made_of_others(device):
    model = net(device, nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4))
    parametrize.register_parametrization(model[0], "weight", Symmetric())
    yield from steps(model, torch.optim.SGD(model.parameters(), 0.1))
    parametrize.remove_parametrizations(model[0], "weight")
    yield (model[0].weight - model[0].weight.mT).abs().max().item()


def normed_weights(device):
    for norm in (parametrizations.spectral_norm, parametrizations.weight_norm, nn.utils.spectral_norm):
        model = net(device, norm(nn.Linear(8, 16)), nn.ReLU(), norm(nn.Linear(16, 4)))
        yield from steps(model, torch.optim.SGD(model.parameters(), 0.1))
    for axis in (0, 2):
        layer = parametrizations.weight_norm(nn.Conv1d(3, 4, 3), dim=axis).to(device)
        loss = layer(torch.randn(2, 3, 6).to(device)).square().sum()
        loss.backward()
        yield from (loss.item(), *(p.grad.norm().item() for p in layer.parameters()))


def averages(device):
    x, labels = data()
    for settings in ({}, {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9)}):
        model = net(device, nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
        averaged = swa_utils.AveragedModel(model, **settings)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in steps(model, optimizer, 3, swa_utils.SWALR(optimizer, 0.05, anneal_epochs=2)):
            averaged.update_parameters(model)
        swa_utils.update_bn(DataLoader(TensorDataset(x, labels), 16), averaged, device=device)
        yield averaged.eval()(x.to(device)).norm().item()


def functions(device):
    (x, labels), model = data(device), net(device)
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters, x, label):
        y = torch.func.functional_call(model, parameters, (x.unsqueeze(0),))
        return F.cross_entropy(y, label.unsqueeze(0))

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(parameters, x, labels)
    yield from (gradient.flatten(1).norm(dim=1).sum().item() for gradient in each.values())
    yield torch.func.vmap(torch.func.jacrev(lambda x: model(x).softmax(-1)))(x).norm().item()
    yield torch.func.hessian(lambda x: model(x).sigmoid().sum())(x[0]).norm().item()
    stacked, buffers = torch.func.stack_module_state([net(device), net(device)])
    run = torch.func.vmap(lambda p, b, x: torch.func.functional_call(model, (p, b), (x,)), in_dims=(0, 0, None))
    yield run(stacked, buffers, x).norm().item()


def gradients_of_gradients(device):
    x, model = data(device)[0].requires_grad_(), net(device, nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(2):
        u = model(x)
        (du,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(du[:, 0].sum(), x, create_graph=True)
        loss = (second[:, 0] + u.squeeze().sin()).square().mean() + (du.norm(dim=1) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def files(device):
    model = net(device)
    optimizer = torch.optim.AdamW(model.parameters(), 0.01, amsgrad=True)
    yield from steps(model, optimizer)
    saved = pickle.dumps((model, optimizer.state_dict()))
    for place in (pickle.loads(saved), (copy.deepcopy(model), copy.deepcopy(optimizer.state_dict()))):
        other = torch.optim.AdamW(place[0].parameters())
        other.load_state_dict(place[1])
        yield from steps(place[0], other)


def scaled_losses(device):
    (x, labels), model = data(device), net(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler(device, init_scale=8.0, growth_interval=2)
    for number in range(5):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), labels)
        scaler.scale(loss * (float("inf") if number == 3 else 1)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        yield from (loss.item(), scaler.get_scale(), scaler._get_growth_tracker())


PROGRAMS = [
    samplers, data_on_the_device, schedulers, optimizers, clipped_gradients, checkpoints, hooks,
    weights_made_of_others, normed_weights, averages, functions, gradients_of_gradients, files, scaled_losses,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_the_numbers_of_the_cpu(program):
    expected = list(program("cpu"))
    torch.manual_seed(0)
    with native():
        actual = list(program(DEVICE))
    assert actual == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_draws_the_same_numbers_again(reentrant):
    x = torch.ones(1000, device=DEVICE, requires_grad=True)
    y = checkpoint(lambda x: F.dropout(x, 0.5), x, use_reentrant=reentrant)
    y.sum().backward()
    assert torch.equal(x.grad, y)


def test_a_loader_under_a_default_device():
    """The loader's own seed is then drawn on the device."""
    torch.set_default_device(DEVICE)
    try:
        generator = torch.Generator(DEVICE).manual_seed(0)
        loader = DataLoader(TensorDataset(torch.arange(8.0)), 4, shuffle=True, generator=generator)
        parts = [part for (part,) in loader]
    finally:
        torch.set_default_device(None)
    assert parts[0].device.type == DEVICE
    assert sorted(torch.cat(parts).tolist()) == list(range(8))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.uint8, torch.int32, torch.int64, torch.bool])
def test_random_numbers_without_an_end(dtype):
    """All numbers of a type up to the largest one. For floating-point types this is the last one before gaps."""
    digits = {torch.float32: 24, torch.bfloat16: 8, torch.uint8: 8, torch.int32: 31, torch.int64: 63, torch.bool: 1}
    with native():
        x = torch.empty(1000, dtype=dtype, device=DEVICE).random_()
        y = torch.empty(1000, dtype=torch.int32, device=DEVICE).random_(2**31 - 3, None)
    numbers = x.cpu().double()
    assert numbers.min() >= 0
    assert 2.0 ** digits[dtype] * 0.45 < numbers.max() <= 2.0 ** digits[dtype]
    assert set(y.tolist()) == {2**31 - 3, 2**31 - 2, 2**31 - 1}


def test_normal_numbers_with_a_mean_for_each():
    means, deviations = torch.tensor([[0.0], [100.0]], device=DEVICE), torch.full((2000,), 3.0, device=DEVICE)
    with native():
        for x in (torch.normal(means, deviations), torch.normal(means.expand(2, 2000), 3.0)):
            assert x.mean(1).tolist() == pytest.approx([0, 100], abs=0.5)
            assert x.std(1).tolist() == pytest.approx([3, 3], abs=0.3)
        assert torch.normal(2.0, deviations.double().float()).mean().item() == pytest.approx(2, abs=0.5)
