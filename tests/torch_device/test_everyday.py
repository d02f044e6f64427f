"""Everyday programs that may use the CPU for an op: only the numbers must be those of the CPU."""

import io

import pytest
import torch
import torch.nn.functional as F
from compare import DEVICE, assert_same
from torch import distributions as D, nn


def vector(device, *numbers):
    return torch.tensor(numbers, device=device)


def continuous(device):
    a, b, c = vector(device, 0.0, 1.0, 2.0), vector(device, 1.0, 2.0, 0.5), vector(device, 1.0, 2.0, 3.0)
    kinds = [D.Normal(a, b), D.Exponential(c), D.Gamma(c, b), D.Laplace(a, b), D.Gumbel(a, b), D.Cauchy(a, b)]
    kinds += [D.LogNormal(a, b), D.StudentT(c + 2), D.HalfNormal(c), D.Weibull(c, b), D.Chi2(c), D.VonMises(a, c)]
    return [*kinds, D.Pareto(b / 10, c), D.InverseGamma(c, b), D.MultivariateNormal(a, torch.diag(b))]


def of_counts(device):
    shares = vector(device, 0.3, 0.6, 0.1)
    return [D.Categorical(shares), D.Bernoulli(shares), D.Poisson(shares), D.Binomial(10, shares), D.Geometric(shares)]


@pytest.mark.parametrize("make", [continuous, of_counts])
def test_distributions(make):
    for mine, cpu in zip(make(DEVICE), make("cpu"), strict=True):
        sample = cpu.sample((5,))
        assert_same(mine.log_prob(sample.to(DEVICE)), cpu.log_prob(sample), type(cpu).__name__)
        drawn = mine.sample((50,))
        assert drawn.device.type == DEVICE
        assert drawn.shape == cpu.sample((50,)).shape
        assert torch.isfinite(drawn).all()


def overlaps(box, boxes):
    low, high = torch.maximum(box[:2], boxes[:, :2]), torch.minimum(box[2:], boxes[:, 2:])
    both = (high - low).clamp(min=0).prod(1)
    return both / ((box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(1) - both)


def kept_boxes(boxes, scores, bound):
    """What non-maximum suppression leaves."""
    order, kept = scores.argsort(descending=True), []
    while order.numel() > 0:
        kept.append(order[0])
        rest = order[1:]
        order = rest[overlaps(boxes[order[0]], boxes[rest]) <= bound]
    return torch.stack(kept)


def test_detections_are_chosen():
    corners = torch.rand(40, 2) * 50
    boxes, scores = torch.cat([corners, corners + torch.rand(40, 2) * 30 + 1], 1), torch.rand(40)
    results = []
    for device in ("cpu", DEVICE):
        b, s = boxes.to(device), scores.to(device)
        kept = kept_boxes(b, s, 0.4)
        best = s[kept][s[kept] > 0.3].topk(5)
        results.append([kept, b[kept], best.values, best.indices])
    assert_same(results[1], results[0])


def test_states_move_between_devices(tmp_path):
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)).to(DEVICE).eval()
    x = torch.randn(3, 4)
    expected = model(x.to(DEVICE)).cpu()
    torch.save(model.state_dict(), tmp_path / "state.pt")
    with torch.device("meta"):
        twin = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)).eval()
    twin.load_state_dict(torch.load(tmp_path / "state.pt", map_location=DEVICE, mmap=True), assign=True)
    assert_same(twin(x.to(DEVICE)), expected)
    file = io.BytesIO()
    torch.save(model, file)
    for device in (DEVICE, "cpu"):
        file.seek(0)
        assert_same(torch.load(file, weights_only=False, map_location=device)(x.to(device)), expected)


def test_saved_tensors_may_leave_the_device():
    x = torch.randn(6, 4)
    gradients = []
    for device in ("cpu", DEVICE):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)
        y = x.clone().to(device).requires_grad_()
        y.register_hook(lambda gradient: gradient * 2)
        model[0].register_forward_hook(lambda module, inputs, output: output * 2)
        with torch.autograd.graph.save_on_cpu():
            loss = model(y).square().sum()
        loss.backward()
        gradients.append([y.grad, model[0].weight.grad])
    assert_same(gradients[1], gradients[0])


def test_gradients_of_each_sample():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    x, labels = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])

    def results(device):
        net = model.to(device)

        def loss(parameters, x, label):
            return F.cross_entropy(torch.func.functional_call(net, parameters, (x[None],)), label[None])

        each = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))
        gradients = each(dict(net.named_parameters()), x.to(device), labels.to(device))
        y = x[0].to(device)
        hessian = torch.func.hessian(lambda x: net(x).square().sum())(y)
        return [*gradients.values(), torch.func.jacrev(net)(y), torch.func.jacfwd(net)(y), hessian]

    expected = [y.detach().clone() for y in results("cpu")]
    assert_same(results(DEVICE), expected)


def test_an_exported_program():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU()).to(DEVICE)
    x = torch.randn(2, 3, device=DEVICE)
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, (x,)), file)
    file.seek(0)
    assert_same(torch.export.load(file).module()(x), model(x).cpu())
