"""einops, whose functions for any arrays of the standard are einops.array_api."""

import crisol
import einops.array_api as einops
import numpy as np
import pytest


@pytest.fixture
def images():
    x = np.random.default_rng(2).normal(size=(2, 3, 4, 6)).astype(np.float32)
    return x, crisol.asarray(x)


@pytest.mark.parametrize("pattern, sizes", [
    ("b c h w -> b h w c", {}),
    ("b c h w -> b (c h w)", {}),
    ("b c (h p) (w q) -> b (h w) (p q c)", {"p": 2, "q": 3}),
    ("b c h w -> (b h) (w c)", {}),
])
def test_rearrange(images, pattern, sizes):
    x, y = images
    assert np.array_equal(np.asarray(einops.rearrange(y, pattern, **sizes)), einops.rearrange(x, pattern, **sizes))


@pytest.mark.parametrize("how", ["mean", "max", "min", "sum", "prod"])
def test_reduce(images, how):
    x, y = images
    pattern = "b c (h 2) (w 2) -> b c h w"
    np.testing.assert_allclose(np.asarray(einops.reduce(y, pattern, how)), einops.reduce(x, pattern, how), rtol=1e-5)


def test_repeat_pack_and_unpack(images):
    x, y = images
    repeated = einops.repeat(y, "b c h w -> b c (h 2) w 3")
    assert np.array_equal(np.asarray(repeated), einops.repeat(x, "b c h w -> b c (h 2) w 3"))
    packed, shapes = einops.pack([y, y[:, :, 0]], "b c *")
    assert packed.shape == (2, 3, 30)
    back = einops.unpack(packed, shapes, "b c *")
    assert np.array_equal(np.asarray(back[1]), x[:, :, 0])
