"""Random ONNX models: ONNX Runtime against crisol, whose refusals are counted by op."""

import collections
import pathlib
import pickle
import re
import select
import subprocess
import sys
import tempfile

import crisol
import numpy as np
import onnx_runtime
from onnx_graph import Refused, f16, floats
from onnx_runtime import expectations, make, part, results_of

refusals = collections.Counter()


server = None
patience = 120  # Seconds that ONNX Runtime may take for a small model. It never ends some of them.


def apart(function, *arguments):
    """What a function of onnx_runtime.py gives in the process of ONNX Runtime."""
    global server
    if server is None:
        command = [sys.executable, onnx_runtime.__file__]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        pickle.dump((function.__name__, arguments), server.stdin)
        server.stdin.flush()
        if not select.select([server.stdout], [], [], patience)[0]:
            raise EOFError
        result = pickle.load(server.stdout)
    except (EOFError, BrokenPipeError):
        server.kill()
        server.wait()
        server = None
        raise Refused("ONNX Runtime ended its process, or does not end the model") from None
    if isinstance(result, Exception):
        raise result
    return result


def wrong(found, expected, others, is_half, is_rounded):
    """What is wrong with a result, or None."""
    if found.dtype != expected.dtype:
        return f"{found.dtype}, ONNX Runtime has {expected.dtype}"
    if any(other.shape != expected.shape for other in others):
        return None
    if found.shape != expected.shape:
        return f"shape {found.shape}, ONNX Runtime has {expected.shape}"
    if expected.dtype not in floats:
        stable = np.abs(expected.astype(float)) < 2**53  # ONNX Runtime multiplies in double.
        for other in others:
            stable &= other == expected
        bad = stable & (np.abs(found.astype(float) - expected.astype(float)) > is_rounded)
    else:
        with np.errstate(all="ignore"):
            e, f = expected.astype(float), found.astype(float)
            size = np.max(np.abs(e), initial=0, where=np.isfinite(e))
            distance = np.zeros(e.shape)
            for other in others:
                distance = np.maximum(distance, np.abs(other.astype(float) - e))
            distance = np.where(np.isnan(distance), np.inf, distance)
            epsilon = 3e-3 if is_half else 1e-5
            allowed = epsilon * np.abs(e) + 0.3 * epsilon * size + 20 * distance + 1e-7
            bad = ~((np.abs(f - e) <= allowed) | (f == e) | (np.isnan(f) & np.isnan(e)))
            bad &= ~(np.isinf(distance) & np.isfinite(e))
    if not bad.any():
        return None
    at = tuple(int(k) for k in np.argwhere(bad)[0])
    return f"{found[at]} at {at}, ONNX Runtime has {expected[at]}"


def load(model):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(model.proto().SerializeToString())
        return crisol.onnx.load(path)


def refused(error):
    """The op and the rule of a refusal, or None."""
    text = str(error)
    if not isinstance(error, crisol.InvalidArgumentError):
        return None
    if "the model has what is not supported" in text:
        line = text.splitlines()[1].strip()
        return re.sub(r': "[^:]*$', "", line)
    found = re.match(r"\[onnx\] node .*? \((\w+)\): (.*)", text, re.S)
    return f"{found[1]}: {found[2]}" if found else None


def difference(model, sets, rules=None, runs=4):
    """The number of an output and what is wrong with it, or None. Refusals are no differences; they go to `rules`. A
    whole number at an edge, such as x < tanh(x) at small x, may stay the same in a few runs of moved numbers. So a
    difference counts if it stays beside many runs."""
    many = 60
    rules = set() if rules is None else rules
    try:
        expected = apart(expectations, model, sets, runs)
    except Refused:
        return None
    if all(one is None for one in expected):
        return None
    try:
        own = load(model)
    except Exception as error:
        if rule := refused(error):
            rules.add(rule)
            return None
        return 0, f"load: {type(error).__name__}: {error}"
    for number, (inputs, right) in enumerate(zip(sets, expected)):
        for mode in (crisol.no_grad, crisol.no_grad, crisol.enable_grad) if right else ():
            where = f"set {number}, {mode.__name__}"
            try:
                with mode():
                    given = {name: crisol.asarray(array) for name, array in inputs.items()}
                    results = [np.asarray(value.detach()) for value in own(given).values()]
            except Exception as error:
                if rule := refused(error):
                    rules.add(f"{rule} (in a run)")
                    break
                return 0, f"{where}: {type(error).__name__}: {error}"
            for k, (found, e, others) in enumerate(zip(results, *right[:2])):
                text = wrong(found, e, others, *right[2:])
                if text and runs < many:
                    return difference(model, sets, rules, many)
                if text:
                    return k, f"{where}, {model.outputs[k]}: {text}"
    return None


def shrunk(model, sets, found):
    """A smaller model that still differs: one output, with values of ONNX Runtime as inputs in place of nodes."""
    one = part(model, sets, [model.outputs[found[0]]])
    if difference(*one):
        model, sets = one
    for k in range(len(sets) - 1, -1, -1):
        if len(sets) > 1 and difference(model, sets[:k] + sets[k + 1 :]):
            sets = sets[:k] + sets[k + 1 :]
    for node in list(model.nodes[:-1]):
        if node not in model.nodes or node.op_type == "Constant":
            continue
        smaller = cut(model, sets, [name for name in node.output if name])
        if smaller and difference(*smaller):
            model, sets = smaller
    return model, sets


def cut(model, sets, names):
    """The model with these values as inputs."""
    names = [name for name in names if name not in model.outputs]
    if not names:
        return None
    try:
        results = [one[-len(names) :] for one in apart(results_of, model.proto([*model.outputs, *names]), sets)]
    except Refused:
        return None
    other = model.with_parts(
        [n for n in model.nodes if not set(n.output) & set(names)], dict(model.inputs), model.outputs
    )
    for k, name in enumerate(names):
        other.inputs[name] = [
            size if all(one[k].shape[i : i + 1] == (size,) for one in results) else None
            for i, size in enumerate(results[0][k].shape)
        ]
    sets = [{**inputs, **dict(zip(names, arrays))} for inputs, arrays in zip(sets, results)]
    return part(other, sets, other.outputs)


def described(model, sets):
    """The model, the numbers of the first set, and what each program has."""
    text = model.text()
    for name, array in [*sets[0].items(), *model.constants.items()]:
        text += f"\n{name} = {short(array)}"
    with np.errstate(all="ignore"):
        for program, results in dict(reference=of_reference, runtime=of_runtime, crisol=of_crisol).items():
            try:
                text += f"\n{program}: " + "; ".join(map(short, results(model, sets[0])))
            except Exception as error:
                text += f"\n{program}: {type(error).__name__}: {str(error).strip()[:300]}"
    return text


def short(array):
    array = np.asarray(array)
    return f"{array.dtype}{array.shape} {np.array2string(array.reshape(-1), threshold=24, max_line_width=1000)}"


def of_reference(model, inputs):
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model.proto()).run(None, inputs)


def of_runtime(model, inputs):
    return apart(results_of, model.proto(), [inputs])[0]


def of_crisol(model, inputs):
    with crisol.no_grad():
        results = load(model)({name: crisol.asarray(array) for name, array in inputs.items()})
    return [np.asarray(value) for value in results.values()]


def agrees_with_reference(model, sets):
    """Whether crisol has what ONNX's own reference has. Then ONNX Runtime is the one that differs."""
    is_half = f16 in model.types.values()
    try:
        with np.errstate(all="ignore"):
            for inputs in sets:
                for found, expected in zip(of_crisol(model, inputs), of_reference(model, inputs)):
                    if wrong(found, np.asarray(expected), [], is_half, False):
                        return False
    except Exception:  # One of them refuses the model.
        return False
    return True


def attempt(random):
    """What differs in one model, as text, or None."""
    try:
        made = apart(make, random)
    except Refused:
        return None
    if made is None:
        return None
    rules = set()
    found = difference(*made, rules)
    refusals.update(rules)
    if found is None:
        return None
    small = shrunk(*made, found)
    if agrees_with_reference(*small):
        refusals[f"{small[0].nodes[-1].op_type}: ONNX Runtime differs, ONNX's reference does not"] += 1
        return None
    return f"{(difference(*small) or found)[1]}\n{described(*small)}"
