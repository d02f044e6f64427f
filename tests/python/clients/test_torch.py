"""PyTorch and torchvision: models of torchvision compute the same, and tensors go both ways by DLPack.

Skipped where torch is not installed: pip install torch torchvision. Their wheels need gigabytes, so requirements.txt leaves
them out.
"""

import crisol
import numpy as np
import pytest
from crisol import from_pytorch, nn

torch = pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(scope="module")
def resnet18():
    """torchvision's resnet18 with random weights, and batch norms that change their input."""
    models = pytest.importorskip("torchvision.models", reason="torchvision is not installed")
    torch.manual_seed(0)
    model = models.resnet18().eval()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.normal_(module.running_mean, std=0.3)
            torch.nn.init.uniform_(module.running_var, 0.5, 2)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, std=0.3)
    return model


def written_by_safetensors(model, folder):
    import safetensors.torch

    safetensors.torch.save_file(model.state_dict(), folder / "net.safetensors")


def written_by_the_converter(model, folder):
    torch.save(model.state_dict(), folder / "net.pt")
    from_pytorch.convert(folder / "net.pt", folder / "net.safetensors")


@pytest.mark.parametrize("write", [written_by_safetensors, written_by_the_converter])
def test_resnet18(resnet18, write, tmp_path):
    write(resnet18, tmp_path)
    ours = nn.models.resnet18().eval()
    ours.load_state_dict(crisol.load(tmp_path / "net.safetensors"))
    x = np.random.default_rng(0).standard_normal((2, 3, 224, 224)).astype(np.float32)
    with torch.no_grad(), crisol.no_grad():
        expected = resnet18(torch.from_numpy(x)).numpy()
        logits = np.asarray(ours(crisol.asarray(x)))
    assert np.abs(logits - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("name", ["resnet18", "resnet34", "alexnet", "vgg16", "mobilenet_v2"])
def test_names_of_models(name):
    models = pytest.importorskip("torchvision.models", reason="torchvision is not installed")
    with torch.device("meta"):
        theirs = getattr(models, name)().state_dict()
    ours = getattr(nn.models, name)().state_dict()
    assert {name: tuple(value.shape) for name, value in theirs.items()} == {
        name: value.shape for name, value in ours.items()
    }


on_cpu = pytest.mark.skipif(
    crisol.device().type != "cpu", reason="PyTorch does not know OpenCL's memory, and may end the process"
)


@on_cpu
def test_dlpack():
    x = crisol.asarray([[1.0, 2.0], [3.0, 4.0]])
    y = torch.from_dlpack(x.T)
    assert y.tolist() == x.T.tolist()
    assert crisol.from_dlpack(y.T).tolist() == x.tolist()


@on_cpu
def test_elements_stay_while_torch_uses_them():
    x = crisol.ones((500, 500))
    t, flat = torch.asarray(x), torch.frombuffer(x, dtype=torch.float32)
    del x
    others = [crisol.randn(500, 500).numpy() for _ in range(5)]
    assert t.sum() == flat.sum() == 250000 and len(others) == 5
