"""The samples of the PyTorch device: they run on the device alone, and learn as on the CPU."""

import os
import re
import subprocess
import sys

import pytest
from checkout import root

SAMPLES = root / "samples" / "pytorch"
DATA = os.environ.get("CRISOL_TEST_DATA")


def losses(name, arguments, device):
    """The losses that a sample prints. An op that would run on the CPU is an error."""
    command = [sys.executable, str(SAMPLES / f"{name}.py"), "--device", device, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CRISOL_TORCH_FALLBACK": "error"})
    assert done.returncode == 0, done.stderr
    return [float(number) for number in re.findall(r"loss (?:of the discriminator )?([\d.]+)", done.stdout)]


def assert_learns(name, arguments, tolerance):
    expected = losses(name, arguments, "cpu")
    assert expected
    assert losses(name, arguments, "crisol") == pytest.approx(expected, rel=tolerance)


needs_mnist = pytest.mark.skipif(not DATA, reason="CRISOL_TEST_DATA names no folder with MNIST")


# Programs that draw random numbers on their device get others than the CPU's, so their losses differ a little.
@needs_mnist
@pytest.mark.parametrize(
    ("name", "arguments", "tolerance"),
    [
        ("mnist", ["--images", 2560], 0.2),
        ("vae", ["--images", 2560], 0.02),
        ("dcgan", ["--images", 640], 1e-3),
        ("super_resolution", ["--images", 320, "--epochs", 1], 1e-3),
    ],
)
def test_image_samples(name, arguments, tolerance):
    assert_learns(name, ["--data", f"{DATA}/mnist", *arguments], tolerance)


def test_time_sequence():
    assert_learns("time_sequence", ["--steps", 1, "--waves", 8, "--length", 40], 1e-3)


@pytest.mark.parametrize("model", ["lstm", "transformer"])
def test_word_language_model(tmp_path, model):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(f"the {a} {b} sees {c} ." for a in ("old", "new") for b in "abcdefgh" for c in "stuvw"))
    assert_learns("word_language_model", ["--data", text, "--model", model, "--steps", 50, "--width", 32], 0.05)
