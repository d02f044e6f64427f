"""crisol.fft against NumPy, on odd, even and cut lengths."""

import crisol
import numpy as np
import pytest
from crisol import fft

rng = np.random.default_rng(3)


def close(got, wanted):
    if np.iscomplexobj(wanted):
        wanted = np.stack([wanted.real, wanted.imag], -1)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 1, 5, 6, 7, 10])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_rfft_and_irfft(n, dim, norm):
    x = rng.standard_normal((7, 6, 3)).astype(np.float32)
    close(fft.rfft(crisol.asarray(x), n, dim, norm), np.fft.rfft(x, n, dim, norm))
    z = rng.standard_normal((7, 6, 3, 2)).astype(np.float32)
    close(fft.irfft(crisol.asarray(z), n, dim, norm), np.fft.irfft(z[..., 0] + 1j * z[..., 1], n, dim, norm))


@pytest.mark.parametrize("s", [None, (4, 7), (9, 3)])
@pytest.mark.parametrize("dim", [(-2, -1), (0, 1), (2, 0)])
def test_rfft2_and_irfft2(s, dim):
    x = rng.standard_normal((5, 6, 4)).astype(np.float32)
    close(fft.rfft2(crisol.asarray(x), s, dim), np.fft.rfft2(x, s, dim))
    z = rng.standard_normal((5, 6, 4, 2)).astype(np.float32)
    close(fft.irfft2(crisol.asarray(z), s, dim, "ortho"), np.fft.irfft2(z[..., 0] + 1j * z[..., 1], s, dim, "ortho"))


def test_gradient_of_the_power():
    """Parseval: the sum of |X|² over all n frequencies is n times that of x²."""
    x = crisol.asarray(rng.standard_normal(9).astype(np.float32))
    x.requires_grad_()
    power = (fft.rfft(x) ** 2).sum(dim=-1)
    (2 * power.sum() - power[0]).backward()
    np.testing.assert_allclose(np.asarray(x.grad), 18 * np.asarray(x.detach()), rtol=1e-4, atol=1e-4)


def test_frequencies_and_shifts():
    for n in (1, 4, 5):
        close(fft.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5).astype(np.float32))
        close(fft.rfftfreq(n, 0.5), np.fft.rfftfreq(n, 0.5).astype(np.float32))
    x = np.arange(15.0, dtype=np.float32).reshape(3, 5)
    close(fft.fftshift(crisol.asarray(x)), np.fft.fftshift(x))
    close(fft.ifftshift(crisol.asarray(x), 1), np.fft.ifftshift(x, 1))


def test_errors_name_the_value():
    x = crisol.ones((4, 3))
    with pytest.raises(crisol.Error, match=r"\[rfft\] norm is 'other'"):
        fft.rfft(x, norm="other")
    with pytest.raises(crisol.Error, match=r"\[rfft\] dim is 2"):
        fft.rfft(x, dim=2)
    with pytest.raises(crisol.Error, match=r"\[irfft\] the last axis"):
        fft.irfft(x)
    with pytest.raises(crisol.Error, match=r"\[rfft\] the length is 0"):
        fft.rfft(x, 0)
