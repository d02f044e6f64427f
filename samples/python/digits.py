"""Renders digits, for when the files of MNIST are not there."""

import numpy as np

# The digits 0 to 9, five pixels wide and seven high.
GLYPHS = """
.###. ..#.. .###. .###. ...#. ##### ..##. ##### .###. .###.
#...# .##.. #...# #...# ..##. #.... .#... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ...#. ..##. #..#. ....# ####. ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# .#... #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# .#... #...# ...#.
.###. .###. ##### .###. ...#. .###. .###. .#... .###. .##..
"""


def glyphs():
    """The glyphs as an array (10, 7, 5)."""
    rows = [line.split() for line in GLYPHS.strip().splitlines()]
    return np.array([[[c == "#" for c in row[digit]] for row in rows] for digit in range(10)], dtype=np.float32)


def render(count, seed=0):
    """Images (count, 1, 28, 28) in [0, 1] and labels (count): glyphs rotated, scaled, sheared and moved, with noise."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count)
    angle, shear = random.uniform(-0.25, 0.25, (2, count, 1, 1))
    scale = random.uniform(2.4, 3.2, (count, 1, 1))
    move = random.uniform(-2, 2, (2, count, 1, 1))
    y, x = np.mgrid[0:28, 0:28] - 13.5
    x, y = x - move[0], y - move[1]
    x, y = x * np.cos(angle) + y * np.sin(angle) + shear * y, y * np.cos(angle) - x * np.sin(angle)
    column = np.clip(np.rint(x / scale + 2), -1, 5).astype(int) + 1
    row = np.clip(np.rint(y / scale + 3), -1, 7).astype(int) + 1
    padded = np.pad(glyphs(), [(0, 0), (1, 1), (1, 1)])
    images = padded[labels[:, None, None], row, column] * random.uniform(0.6, 1, (count, 1, 1))
    images = np.clip(images + random.normal(0, 0.05, images.shape), 0, 1)
    return images[:, None].astype(np.float32), labels
