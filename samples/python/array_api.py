"""Recognizes digits with scikit-learn on a device: its estimators compute with crisol's tensors, and with NumPy's arrays.

scikit-learn calls the functions of the array that it gets, which the Array API standard names. A function of one's own
can do the same: deskewed() below.
"""

import argparse
import os

import crisol
import numpy as np
from digits import render

os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy reads it when it is imported.

import sklearn  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.metrics import accuracy_score, confusion_matrix  # noqa: E402


def deskewed(images):
    """The images (N, H, W) with each row moved so that the middle of each digit is upright, in any array library."""
    xp = images.__array_namespace__()
    n, height, width = images.shape
    down = xp.arange(height, dtype=xp.float32, device=images.device)[:, None] - (height - 1) / 2
    across = xp.arange(width, dtype=xp.float32, device=images.device)[None, :] - (width - 1) / 2
    mass = xp.sum(images, axis=(1, 2), keepdims=True)
    y = down - xp.sum(images * down, axis=(1, 2), keepdims=True) / mass
    x = across - xp.sum(images * across, axis=(1, 2), keepdims=True) / mass
    slant = xp.sum(images * x * y, axis=(1, 2)) / xp.sum(images * y * y, axis=(1, 2))
    from_column = xp.round(across + slant[:, None, None] * down[None, :, :] + (width - 1) / 2)
    columns = xp.astype(xp.clip(from_column, 0, width - 1), xp.int64)
    return xp.take_along_axis(images, columns, axis=2)


def recognize(images, labels, tested, components):
    """Trains on the images before position `tested`. Returns the true labels of the others, and those found."""
    xp = images.__array_namespace__()
    pixels = xp.reshape(deskewed(images), (images.shape[0], -1))
    pca = PCA(components, svd_solver="covariance_eigh").fit(pixels[:tested])
    features = pca.transform(pixels)
    lda = LinearDiscriminantAnalysis().fit(features[:tested], labels[:tested])
    print(f"  {components} components explain {float(xp.sum(pca.explained_variance_ratio_)):.1%} of the variance")
    return labels[tested:], lda.predict(features[tested:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--digits", type=int, default=6000, help="to train and test with (default: %(default)s)")
    parser.add_argument("--components", type=int, default=40, help="of the PCA (default: %(default)s)")
    args = parser.parse_args()

    sklearn.set_config(array_api_dispatch=True)
    images, labels = render(args.digits)
    images, labels = images[:, 0], labels.astype(np.int64)
    tested = args.digits * 4 // 5
    predictions = {}
    for place, convert in ((f"crisol on {crisol.device()}", crisol.asarray), ("NumPy", np.asarray)):
        print(place)
        true, found = recognize(convert(images), convert(labels), tested, args.components)
        assert type(found) is type(convert(labels))
        print(f"  {accuracy_score(true, found):.1%} of {len(labels) - tested} digits are right")
        predictions[place] = np.asarray(found)
        confused = np.asarray(confusion_matrix(true, found))
    equal = np.mean(np.equal(*predictions.values()))
    print(f"{equal:.1%} of the predictions are the same")
    np.fill_diagonal(confused, 0)
    true, found = np.unravel_index(np.argmax(confused), confused.shape)
    if confused[true, found] > 0:
        print(f"most frequent mistake: {true} taken for {found}, {confused[true, found]} times")


if __name__ == "__main__":
    main()
