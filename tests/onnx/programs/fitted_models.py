"""Compares crisol with ONNX Runtime on models that scikit-learn, LightGBM and XGBoost fit: tests/onnx/run.sh --fitted.

Each model is fitted on small generated data with fixed seeds, and converted by skl2onnx or onnxmltools. Labels must be
equal. Other numbers may differ by 1e-5 of the largest number of their output.
"""
import argparse
import collections
import ctypes
import json
import os
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import onnxruntime
from sklearn import compose, datasets, ensemble, impute, linear_model, naive_bayes, pipeline, preprocessing, svm, tree
from skl2onnx import to_onnx

from crisol_c import Failure, Library
from real_models import medians, session_of

TOLERANCE = 1e-5
ROWS = (1, 7, 300)
FEATURES = 8


def classes(count, names=None, missing=False):
    x, y = datasets.make_classification(400, FEATURES, n_informative=5, n_classes=count, random_state=count)
    return with_missing(x, missing), y if names is None else np.array(names)[y]


def numbers(targets=1, missing=False):
    x, y = datasets.make_regression(400, FEATURES, n_targets=targets, noise=5, random_state=targets)
    return with_missing(x, missing), y / np.abs(y).max()


def with_missing(x, missing):
    x = x.astype(np.float32)
    if missing:
        x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan
    return x


def whole(count):
    """Features that are few whole numbers."""
    x, y = classes(count)
    return np.round(x).clip(-2, 2).astype(np.float32), y


TWO, THREE, TEXTS = classes(2), classes(3), classes(2, ["no", "yes"])
THREE_TEXTS, ODD = classes(3, ["c", "a", "bb"]), classes(3, [7, -3, 12])
TWO_MISSING, THREE_MISSING, REALS_MISSING = classes(2, missing=True), classes(3, missing=True), numbers(missing=True)
REALS, PAIRS, ANY = numbers(), numbers(2), (THREE[0], None)


def fitted_by_scikit_learn():
    """Name, estimator, data, and options of the converter."""
    few = {"n_estimators": 20, "random_state": 0}
    forest = ensemble.RandomForestClassifier
    chain = pipeline.make_pipeline
    yield "tree, 2 classes", tree.DecisionTreeClassifier(max_depth=6, random_state=0), TWO
    yield "tree, 3 classes of text", tree.DecisionTreeClassifier(random_state=0), THREE_TEXTS
    yield "tree, numbers", tree.DecisionTreeRegressor(random_state=0), REALS
    yield "tree, 2 targets", tree.DecisionTreeRegressor(max_depth=5, random_state=0), PAIRS
    yield "forest, 2 classes", forest(**few), TWO
    yield "forest, 2 classes of text", forest(**few, max_depth=5), TEXTS
    yield "forest, 3 classes", forest(**few), ODD
    yield "forest, numbers", ensemble.RandomForestRegressor(**few), REALS
    yield "forest, 2 targets", ensemble.RandomForestRegressor(**few), PAIRS
    yield "extra trees, 3 classes", ensemble.ExtraTreesClassifier(**few), THREE
    yield "extra trees, numbers", ensemble.ExtraTreesRegressor(**few), REALS
    yield "gradient boosting, 2 classes", ensemble.GradientBoostingClassifier(**few), TWO
    yield "gradient boosting, 3 classes of text", ensemble.GradientBoostingClassifier(**few), THREE_TEXTS
    yield "gradient boosting, numbers", ensemble.GradientBoostingRegressor(**few), REALS
    yield "isolation forest", ensemble.IsolationForest(n_estimators=10, random_state=0), ANY
    yield "AdaBoost, 3 classes", ensemble.AdaBoostClassifier(**few), THREE
    yield "bagging of trees", ensemble.BaggingClassifier(n_estimators=5, random_state=0), TWO
    yield "support vectors, rbf, 3 classes", svm.SVC(), THREE
    yield "support vectors, linear, text", svm.SVC(kernel="linear"), TEXTS
    yield "support vectors, poly", svm.SVC(kernel="poly", degree=3, coef0=1), THREE_TEXTS
    yield "support vectors, sigmoid", svm.SVC(kernel="sigmoid"), TWO
    yield "support vectors, nu", svm.NuSVC(nu=0.3), ODD
    yield "support vectors, numbers", svm.SVR(C=10), REALS
    yield "support vectors, nu, numbers", svm.NuSVR(kernel="poly", degree=2), REALS
    yield "support vectors, one class", svm.OneClassSVM(), ANY
    yield "linear support vectors", svm.LinearSVC(), THREE_TEXTS
    yield "linear support vectors, numbers", svm.LinearSVR(), REALS
    yield "logistic, text", linear_model.LogisticRegression(), TEXTS
    yield "logistic, 3 classes", linear_model.LogisticRegression(), ODD
    yield "ridge, 2 targets", linear_model.Ridge(), PAIRS
    yield "descent", linear_model.SGDClassifier(loss="log_loss", random_state=0), THREE
    yield "naive Bayes, text", naive_bayes.GaussianNB(), THREE_TEXTS
    yield "scaled logistic", chain(preprocessing.StandardScaler(), linear_model.LogisticRegression()), THREE
    yield "ranges, norms and a forest", chain(preprocessing.MinMaxScaler(), preprocessing.Normalizer(),
                                              forest(**few)), TWO
    yield "filled forest", chain(impute.SimpleImputer(), forest(**few)), TWO_MISSING
    yield "categories", chain(compose.make_column_transformer(
        (preprocessing.OneHotEncoder(handle_unknown="ignore"), [0, 1]), (preprocessing.Binarizer(), [2, 3]),
        remainder="passthrough"), linear_model.LogisticRegression()), whole(3)
    yield "votes", ensemble.VotingClassifier([("a", linear_model.LogisticRegression()), ("b", forest(**few))],
                                             voting="soft", flatten_transform=False), THREE_TEXTS
    yield "votes by label", ensemble.VotingClassifier([("a", linear_model.LogisticRegression()), ("b", forest(**few))],
                                                      flatten_transform=False), THREE


def fitted_by_lightgbm():
    import lightgbm
    few = {"n_estimators": 20, "random_state": 0, "verbose": -1, "n_jobs": 2}
    yield "LightGBM, 2 classes", lightgbm.LGBMClassifier(**few), TWO_MISSING
    yield "LightGBM, 3 classes", lightgbm.LGBMClassifier(**few), THREE
    yield "LightGBM, numbers", lightgbm.LGBMRegressor(**few), REALS_MISSING
    yield "LightGBM, DART", lightgbm.LGBMRegressor(**few, boosting_type="dart"), REALS
    yield "LightGBM, forest", lightgbm.LGBMRegressor(**few, boosting_type="rf", bagging_freq=1,
                                                     bagging_fraction=0.7), REALS


def fitted_by_xgboost():
    import xgboost
    few = {"n_estimators": 20, "random_state": 0, "n_jobs": 2}
    yield "XGBoost, 2 classes", xgboost.XGBClassifier(**few), TWO_MISSING
    yield "XGBoost, 3 classes", xgboost.XGBClassifier(**few), THREE
    yield "XGBoost, numbers", xgboost.XGBRegressor(**few), REALS_MISSING
    yield "XGBoost, forest", xgboost.XGBRFRegressor(**few), REALS


def converted(source, estimator, x):
    if source == "sklearn":
        return to_onnx(estimator, x[:1], target_opset={"": 18, "ai.onnx.ml": 3})
    import onnxmltools
    from onnxmltools.convert.common.data_types import FloatTensorType
    types = [("X", FloatTensorType([None, x.shape[1]]))]
    return getattr(onnxmltools, f"convert_{source}")(estimator, initial_types=types)


def models():
    """Name, file as bytes, and features of each model."""
    for source, rows in (("sklearn", fitted_by_scikit_learn), ("lightgbm", fitted_by_lightgbm),
                         ("xgboost", fitted_by_xgboost)):
        for name, estimator, (x, y) in rows():
            estimator.fit(x, y)
            yield name, lambda s=source, e=estimator, x=x: converted(s, e, x).SerializeToString(), x


def texts_of(library, model, output):
    texts, text = [], ctypes.c_char_p()
    while True:
        library.call("crisol_onnx_text", model, output, len(texts), ctypes.byref(text))
        if text.value is None:
            return texts
        texts.append(text.value.decode())


def difference(found, texts, expected):
    """Infinite if the outputs cannot be compared, or labels differ."""
    if isinstance(expected, list):  # A dict for each row.
        if [str(key) for key in expected[0]] != texts:
            return np.inf
        expected = np.array([list(row.values()) for row in expected], np.float32)
    elif texts:
        found = np.array(texts, object)[found]
    if found.shape != expected.shape:
        return np.inf
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else np.inf
    apart = np.abs(found.astype(np.float64) - expected)
    return float(np.max(apart, initial=0) / max(np.max(np.abs(expected), initial=0), 1e-30))


def compare(library, path, x, options):
    result = {}
    model = None
    try:
        model = library.load(path)
        session = session_of(path)
        outputs = library.output_names(model)
        name = session.get_inputs()[0].name
        worst = 0
        for rows in ROWS:
            given = {name: x[:rows]}
            found, expected = library.run_all(model, given), session.run(outputs, given)
            for i, output in enumerate(outputs):
                apart = difference(found[output][0], texts_of(library, model, i), expected[i])
                worst = max(worst, apart if apart == apart else np.inf)
        result |= {"difference": worst, "outcome": "agrees" if worst <= TOLERANCE else "wrong"}
        for rows in options.time:
            given = {name: np.tile(x, (rows // len(x) + 1, 1))[:rows] + 0}
            result[f"ms of {rows}"] = medians([library.prepared_run(model, given), lambda: session.run(outputs, given)],
                                              options.seconds)
    except Failure as error:
        result |= {"outcome": "refused", "reason": str(error).replace(str(path), path.name)}
    finally:
        if model is not None:
            library.destroy(model)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="libcrisol.so")
    parser.add_argument("--json", help="write the results here")
    parser.add_argument("--only", default="", help="models whose names contain this text")
    parser.add_argument("--time", type=int, nargs="*", default=[], help="measure both with these numbers of rows")
    parser.add_argument("--seconds", type=float, default=1, help="for the times of each of the two")
    parser.add_argument("--least", type=int, default=0, help="fail if fewer models agree")
    parser.add_argument("--keep", help="a folder for the models")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    library = Library(options.library)
    results, counts = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, convert, x in models():
            if options.only not in name:
                continue
            if progress := os.environ.get("CRISOL_TEST_PROGRESS"):
                pathlib.Path(progress).write_text(name)  # For tests/watch.sh.
            path = pathlib.Path(options.keep or folder, name.replace(" ", "_").replace(",", "") + ".onnx")
            try:
                path.write_bytes(convert())
                result = compare(library, path, x, options)
            except Exception as error:
                result = {"outcome": "conversion", "reason": f"{type(error).__name__} {error}"[-300:]}
            counts[result["outcome"]] += 1
            results.append({"model": name, **result})
            times = " ".join(f"{key}: {own:.3f} / {peer:.3f} = {peer / own:.2f}" for key, (own, peer) in
                             ((key, value) for key, value in result.items() if key.startswith("ms")))
            print(f"{name:40} {result['outcome']:10} {result.get('difference', 0):8.1e} {times} "
                  f"{result.get('reason', '')}", flush=True)
    if options.json:
        versions = {"onnxruntime": onnxruntime.__version__}
        pathlib.Path(options.json).write_text(json.dumps({**versions, "runs": results}, indent=1) + "\n")
    too_few = counts["agrees"] < options.least
    print(f"onnx: {counts['agrees']} passed, {counts['wrong'] + too_few} failed, {counts['refused']} refused")
    return 1 if counts["wrong"] or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
