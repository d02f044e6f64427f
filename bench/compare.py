#!/usr/bin/env python3
"""Times crisol against another library (the peer), case by case, in turns.

Two long-lived processes, `crisol bench --serve` and the peer, are bound to the same cores. Each answers one case at a
time while the other one sleeps. The ratio of a case is the peer's median time divided by crisol's, so above 1 crisol is
faster. Every round gives a ratio. The table shows the median, lowest and highest ratio over the rounds. It also shows
the ratio of the shortest samples of all rounds ("minima").

    python3 -m venv VENV && VENV/bin/pip install torch torchvision
    bench/compare.py --peer torch --peer-python VENV/bin/python --suite eltwise --json FILE --svg FILE
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from chart import bar_chart
from peers import MAKERS, NoPeer, crisol_threads, make_peer

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETTLE_S = 0.05  # Time for threads that still spin after a case to fall asleep.


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, choices=list(MAKERS))
    parser.add_argument("--case", action="append", default=[], metavar="LINE",
                        help='a case as for crisol bench, "gemm m=512"; may be repeated')
    parser.add_argument("--suite", action="append", default=[],
                        help="a suite of crisol bench (crisol bench --list names them); may be repeated")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4, help="seconds to sample a case in a round, on each side")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--crisol", default=str(ROOT / "build/bin/crisol"), help="the program (default: %(default)s)")
    parser.add_argument("--device", default="", help="like --device of crisol bench")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="only for crisol's process")
    parser.add_argument("--peer-env", action="append", default=[], metavar="NAME=VALUE", help="only for the peer")
    parser.add_argument("--peer-python", default=sys.executable,
                        help="Python of the venv that has torch, onnxruntime, openvino or crisol (for the peer python)")
    parser.add_argument("--peer-path", default="", help="the peer's installation (onednn) or build (dlprimitives)")
    parser.add_argument("--peer-build", default=str(ROOT / "build/bench"),
                        help="for peers in C++, and for the models of engines (default: %(default)s)")
    parser.add_argument("--peer-option", action="append", default=[],
                        help="passed on to the peer: --compile for torch, platform:device for dlprimitives")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--svg", metavar="FILE")
    parser.add_argument("--title", default="", help="title of the chart")
    return parser.parse_args()


def environment(common, extra):
    values = dict(os.environ)
    values.update(common)
    for setting in extra:
        name, _, value = setting.partition("=")
        values[name] = value
    return values


class Side:
    """A process that answers each line with one line. It is started again after it ends unexpectedly."""

    def __init__(self, command, env, cores):
        self.start = lambda: subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )  # fmt: skip
        self.process = self.start()

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            status = self.process.wait()
            self.process = self.start()
            return {"error": f"the process ended with {status}"}
        time.sleep(SETTLE_S)
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def case_lines(options):
    lines = list(options.case)
    for suite in options.suite:
        command = [options.crisol, "bench", "--list", "--suite", suite]
        listed = subprocess.run(command, capture_output=True, text=True)
        if listed.returncode != 0:
            raise SystemExit(listed.stderr.strip())
        lines += listed.stdout.split("\n")[:-1]
    if not lines:
        raise SystemExit("name cases with --case or --suite")
    return lines


def run_round(ours, theirs, state, ours_first):
    """Measures a case once on each side. If a side cannot run it, returns False and puts the reason into `state`."""
    for mine in (True, False) if ours_first else (False, True):
        # crisol's answer holds every key, so the peer needs no defaults. So crisol runs first in the first round.
        answer = (ours if mine else theirs).ask(state["line"] if mine else state["full"])
        if "median_ms" not in answer:
            state["missing"] = ("crisol: " if mine else "peer: ") + (answer.get("error") or answer["unsupported"])
            return False
        if mine:
            keys = " ".join(f"{key}={value}" for key, value in answer["keys"].items())
            state["full"] = f"{state['line'].split()[0]} {keys}"
        state["ours" if mine else "theirs"].append(answer)
    return True


def summary(state, peak):
    ours = [answer["median_ms"] for answer in state["ours"]]
    theirs = [answer["median_ms"] for answer in state["theirs"]]
    ratios = [their / our for our, their in zip(ours, theirs)]
    last = state["ours"][-1]
    result = {
        "case": state["line"],
        "ratio": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "ours_ms": statistics.median(ours),
        "peer_ms": statistics.median(theirs),
        # On a busy machine the shortest samples are disturbed least, so they say more than the medians.
        "ratio_of_minima": min(a["min_ms"] for a in state["theirs"]) / min(a["min_ms"] for a in state["ours"]),
        "rounds": len(ratios),
    }
    for rate in ("gflops", "gbps"):
        if rate in last:
            result[rate] = last[rate] * last["median_ms"] / result["ours_ms"]
            result["peak_share"] = result[rate] / peak[f"peak_{rate}"]
    return {**result, "variant": last["variant"], "keys": last["keys"]}


def say(text):
    if sys.stderr.isatty():
        print(f"\r{text:40}\r", end="", file=sys.stderr, flush=True)


def print_table(results):
    heading = ("case", "ours ms", "peer ms", "ratio", "lowest-highest", "minima", "peak", "variant")
    print("\n{:56} {:>10} {:>10} {:>7}  {:14} {:>7} {:>6}  {}".format(*heading))
    for result in results:
        if "ratio" not in result:
            print(f"{result['case']:56} {result['missing']}")
            continue
        share = f"{100 * result['peak_share']:.0f} %" if "peak_share" in result else "-"
        spread = f"{result['ratio_min']:.2f}-{result['ratio_max']:.2f}"
        print(f"{result['case']:56} {result['ours_ms']:10.4f} {result['peer_ms']:10.4f} {result['ratio']:7.2f}  "
              f"{spread:14} {result['ratio_of_minima']:7.2f} {share:>6}  {result['variant']}")


def start_both(options):
    cores = set(sorted(os.sched_getaffinity(0))[: options.threads])
    try:
        peer_command, peer_env = make_peer(options)
    except NoPeer as error:
        raise SystemExit(f"compare.py: {error}") from error
    command = [options.crisol, "bench", "--serve", "--seconds", str(options.seconds)]
    if options.device:
        command += ["--device", options.device]
    ours = Side(command, environment(crisol_threads(options.threads), options.env), cores)
    return ours, Side(peer_command, environment(peer_env, options.peer_env), cores)


def run_rounds(options, lines):
    """Runs all rounds of all cases; returns the measurements of each case, and the device's peak."""
    ours, theirs = start_both(options)
    states = [{"line": line, "ours": [], "theirs": []} for line in lines]
    for number in range(options.rounds):
        peak = ours.ask("peak")
        for index, state in enumerate(states):
            if "missing" in state:
                continue
            say(f"round {number + 1}/{options.rounds}, case {index + 1}/{len(states)}")
            run_round(ours, theirs, state, ours_first=number % 2 == 0)
    say("")
    ours.close()
    theirs.close()
    return states, peak


def write_chart(options, about, results):
    shown = [result for result in results if "ratio" in result]
    title = options.title or f"crisol on {about['platform']} against {about['peer']}"
    note = f"time of the peer / time of crisol: above 1 crisol is faster; {options.threads} threads, {about['device']}"
    bars = [(result["ratio"], result["ratio_min"], result["ratio_max"]) for result in shown]
    names = [result["case"] for result in shown]
    chart = bar_chart(title, note, names, [("median of the rounds, lowest to highest", bars)])
    pathlib.Path(options.svg).write_text(chart)


def main():
    options = parse_arguments()
    states, peak = run_rounds(options, case_lines(options))
    results = [{"case": s["line"], "missing": s["missing"]} if "missing" in s else summary(s, peak) for s in states]
    measured = next((state for state in states if state["ours"] and state["theirs"]), None)
    if measured is None:
        print_table(results)
        raise SystemExit("nothing was measured on both sides")
    about = {
        "device": measured["ours"][0]["device"],
        "platform": measured["ours"][0]["platform"],
        "peer": measured["theirs"][0].get("peer", options.peer),
        "threads": options.threads,
        "rounds": options.rounds,
        **peak,
    }
    print(f"{about['platform']} | {about['device']} against {about['peer']}, {options.threads} threads")
    print(f"measured peak: {peak['peak_gflops']:.0f} GFLOP/s, {peak['peak_gbps']:.0f} GB/s; an empty kernel takes "
          f"{peak['launch_us']:.1f} us queued, {peak['wait_us']:.1f} us waited for")  # fmt: skip
    print_table(results)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({**about, "results": results}, indent=1) + "\n")
    if options.svg:
        write_chart(options, about, results)


if __name__ == "__main__":
    main()
