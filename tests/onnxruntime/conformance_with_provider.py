"""Runs ONNX's own tests through ONNX Runtime with crisol's provider first: tests/onnxruntime/run.sh starts this program.

Each test runs twice: with ONNX Runtime's CPU alone, and with the provider before it. It ends as one of:
  passed   the outputs are those that the test expects, with the provider
  refused  ONNX Runtime's CPU alone does not pass the test either
  wrong    the CPU alone passes, and with the provider it fails: this must not happen
"""
import argparse
import collections
import os
import pathlib
import sys
import warnings

from provider import CPU, PROVIDER, nodes_by_provider, register, session_of

from conformance import SETS, all_tests, array_of, difference_of_output, inputs_of


def as_list(value):
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def fault_of(case, model, devices, nodes):
    """What is wrong with the results; empty if nothing is. Counts the nodes of each provider."""
    try:
        session = session_of(model, devices)
        nodes.update(nodes_by_provider(session))
        names = {value.name for value in session.get_inputs()}
        for inputs, outputs in case.data_sets:
            given = {value.name: array_of(array) for value, array in zip(inputs_of(case), inputs)}
            found = session.run(None, {name: array for name, array in given.items() if name in names})
            for value, array, expected in zip(case.model.graph.output, found, outputs):
                if text := difference_of_output(as_list(array), expected, case):
                    return f"{value.name}: {text}"
        return ""
    except Exception as error:  # ONNX Runtime raises many kinds.
        return f"{type(error).__name__}: {error}".splitlines()[0][:300]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libcrisol_ort.so")
    parser.add_argument("--only", default="", help="tests whose names contain this text")
    parser.add_argument("--sets", default=",".join(SETS), help="which sets, by commas")
    parser.add_argument("--part", default="0/1", help="K/N: only every Nth test, from the Kth")
    parser.add_argument("--least-share", type=float, default=0,
                        help="fail if the provider computes a smaller share of the nodes of tests that pass")
    parser.add_argument("--verbose", action="store_true", help="print every test of which the CPU computes nodes")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    devices = register(options.library)
    assert devices, "the provider has no device"
    counts, nodes = collections.Counter(), collections.Counter()
    first, step = map(int, options.part.split("/"))
    for case in [case for case in all_tests(options.sets.split(",")) if options.only in case.name][first::step]:
        if progress := os.environ.get("CRISOL_TEST_PROGRESS"):
            pathlib.Path(progress).write_text(case.name)  # For tests/watch.sh.
        model = case.model.SerializeToString()
        alone = fault_of(case, model, [], collections.Counter())
        own = collections.Counter()
        fault = fault_of(case, model, devices, own)
        state = "refused" if alone else "wrong" if fault else "passed"
        counts[state] += 1
        nodes.update(own if state == "passed" else {})
        if state == "wrong":
            print(f"{case.name}: wrong: {fault}", flush=True)
        elif options.verbose and own[CPU]:
            print(f"{case.name}: {dict(own)}", flush=True)
    print("nodes: " + ", ".join(f"{count} by {name}" for name, count in nodes.items()))
    too_few = nodes[PROVIDER] < options.least_share * sum(nodes.values())
    if too_few:
        print(f"the provider computed too few nodes: a share of {options.least_share} is expected")
    print(f"ort: {counts['passed']} passed, {counts['wrong'] + too_few} failed, {counts['refused']} refused")
    return 1 if counts["wrong"] or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
