#!/usr/bin/env python3
"""Writes docs/results/verified/NAME.json, from which docs/build.sh makes the table "Verified on" of docs/implementations.md.

    docs/verified.py NAME [--suite LOG] -- COMMAND...

COMMAND runs crisol on one OpenCL implementation, as tests/run.sh sets it up:

    docs/verified.py pocl-3.1 --suite build/tests/pocl.log -- env OCL_ICD_VENDORS=build/tests/icd/pocl build/bin/crisol

The report is that of `COMMAND doctor --full --json`, without what tells of the machine alone. LOG is the log that
tests/run.sh wrote of all tests on that implementation; without it the table says that they were not run.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("name")
parser.add_argument("--suite", metavar="LOG", type=Path)
parser.add_argument("command", nargs="+")
options = parser.parse_args()

suite = None
if options.suite:
    found = re.findall(r"^crisol_tests: (\d+) passed, (\d+) failed, (\d+) skipped$", options.suite.read_text(errors="replace"), re.M)  # fmt: skip
    if len(found) != 1:
        sys.exit(f"verified.py: {options.suite} is not the log of one run of all tests")
    suite = dict(zip(("passed", "failed", "skipped"), map(int, found[0])))
run = subprocess.run([*options.command, "doctor", "--full", "--json"], stdout=subprocess.PIPE, text=True)
report = json.loads(run.stdout)
if len(report["opencl"]["devices"]) != 1:
    sys.exit("verified.py: the command must see one device")
kept = {key: report[key] for key in ("format", "version", "date", "crisol")}
kept |= {"system": report["system"]["system"], "device": report["opencl"]["devices"][0], "suite": suite}
path = Path(__file__).resolve().parent / "results/verified" / f"{options.name}.json"
path.write_text(json.dumps(kept, indent=2) + "\n")
