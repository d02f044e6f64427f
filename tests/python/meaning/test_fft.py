"""crisol.fft against NumPy, on odd, even and cut lengths."""

import crisol
import numpy as np
import pytest
from crisol import fft
from numeric import array_of

rng = np.random.default_rng(3)


def close(got, wanted):
    if np.iscomplexobj(wanted):
        wanted = np.stack([wanted.real, wanted.imag], -1)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(array_of(got), wanted, rtol=1e-5, atol=1e-5)


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
    np.testing.assert_allclose(array_of(x.grad), 18 * array_of(x.detach()), rtol=1e-4, atol=1e-4)


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


def complex_of(shape):
    z = rng.standard_normal((*shape, 2)).astype(np.float32)
    return crisol.asarray(z), z[..., 0] + 1j * z[..., 1]


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_transforms_of_several_axes_and_hermitian_ones(norm):
    x = rng.standard_normal((3, 4, 5)).astype(np.float32)
    close(fft.rfftn(crisol.asarray(x), norm=norm), np.fft.rfftn(x, norm=norm))
    close(fft.rfftn(crisol.asarray(x), (6, 3), (0, 2), norm), np.fft.rfftn(x, (6, 3), (0, 2), norm))
    z, values = complex_of((3, 4, 5))
    close(fft.irfftn(z, norm=norm), np.fft.irfftn(values, norm=norm))
    for n in (None, 7, 8):
        close(fft.hfft(z, n, 1, norm), np.fft.hfft(values, n, 1, norm))
        close(fft.ihfft(crisol.asarray(x), n, -1, norm), np.fft.ihfft(x, n, -1, norm))
    close(fft.rfft(crisol.asarray([True, False, True])), np.fft.rfft([1.0, 0.0, 1.0]))
    with pytest.raises(NotImplementedError, match="rfft"):
        fft.fft(crisol.asarray(x))


def test_short_windows_of_a_signal():
    x = rng.standard_normal((2, 50)).astype(np.float32)
    window = np.hanning(10).astype(np.float32) + 0.1
    found = crisol.stft(crisol.asarray(x), 12, 5, 10, crisol.asarray(window), return_complex=False)
    padded = np.pad(x, ((0, 0), (6, 6)), mode="reflect")
    wide = np.pad(window, 1)
    frames = np.stack([padded[:, i : i + 12] * wide for i in range(0, 51, 5)], 1)
    close(found, np.fft.rfft(frames).swapaxes(1, 2))
    close(crisol.istft(found, 12, 5, 10, crisol.asarray(window)), x)
    close(crisol.asarray(x[0]).stft(8, center=False, normalized=True),
          np.fft.rfft(np.stack([x[0, i : i + 8] for i in range(0, 43, 2)]), norm="ortho").T)  # fmt: skip
    with pytest.raises(crisol.InvalidArgumentError, match="return_complex"):
        crisol.stft(crisol.asarray(x), 8, return_complex=True)
