"""Timing for peers written in Python, by the rules of `crisol bench` (tools/cli/bench/measure.h)."""

import json
import statistics
import sys
import time

SAMPLE_S = 0.005
WARM_UP_S = 0.1
FEWEST_SAMPLES, MAX_SAMPLES = 5, 10000


def measure(run, seconds, wait, finish):
    """Milliseconds of a run, after a warm-up. A sample has several runs unless `wait`, and then `finish` waits for their
    work."""

    def sample(runs):
        start = time.perf_counter()
        for _ in range(runs):
            run()
        finish()
        return (time.perf_counter() - start) / runs

    sample(1)
    start = time.perf_counter()
    once = sample(1)
    while time.perf_counter() - start < WARM_UP_S:
        once = sample(max(1, int(SAMPLE_S / once)))
    runs = 1 if wait else max(1, int(SAMPLE_S / once + 0.999))
    samples = []
    start = time.perf_counter()
    while len(samples) < FEWEST_SAMPLES or (
        time.perf_counter() - start < seconds and len(samples) < MAX_SAMPLES
    ):
        samples.append(1e3 * sample(runs))
    return {
        "median_ms": statistics.median(samples),
        "min_ms": min(samples),
        "samples": len(samples),
        "runs_per_sample": runs,
    }


class Unsupported(Exception):
    """The peer does not offer this case."""


def serve(prepare, seconds, about, finish=lambda: None):
    """Reads lines "case key=value ..." with every key from standard input and answers each with a line of JSON. `finish`
    waits for the work of the runs, where they only queue it."""
    for line in sys.stdin:
        case, *words = line.split()
        keys = dict(word.split("=", 1) for word in words)
        try:
            run = prepare(case, keys)
            answer = measure(run, seconds, keys.get("wait") == "1", finish)
            answer.update(about)
        except Unsupported as error:
            answer = {"unsupported": str(error)}
        except Exception as error:  # The comparison goes on with the next case.
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
