"""CRISOL_TUNE: tuning at first use, in programs of their own."""

import os
import subprocess
import sys

PROGRAM = """
import hashlib
import crisol
from crisol import nn

crisol.manual_seed(3)
net = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 20 * 20, 64))
x = crisol.randn(4, 8, 20, 20)
digest = hashlib.sha256()
for step in range(3):
    y = net(x)
    digest.update(y.detach().numpy().tobytes())
    (y * y).sum().backward()
    for p in net.parameters():
        digest.update(p.grad.numpy().tobytes())
        p.grad = None
print(digest.hexdigest())
"""


def run(file, **variables):
    environment = {**os.environ, "CRISOL_TUNING": str(file), **variables}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)


def test_the_same_bits_from_the_second_run_on(tmp_path):
    file = tmp_path / "tuning.txt"
    first = run(file, CRISOL_TUNE="always")
    assert first.returncode == 0, first.stderr
    stored = file.read_text()
    for op in ("conv2d", "conv2d_backward_weight", "matmul"):
        assert f"\t{op} " in stored
    bits = {run(file, CRISOL_TUNE=value).stdout for value in ("always", "always", "off")}
    assert len(bits) == 1 and bits != {""}
    assert file.read_text() == stored


def test_an_unknown_value_is_an_error_that_names_the_values(tmp_path):
    result = run(tmp_path / "tuning.txt", CRISOL_TUNE="yes")
    assert result.returncode != 0
    assert "[CRISOL_TUNE] 'yes' is none of off, first and always" in result.stderr
    assert not (tmp_path / "tuning.txt").exists()
