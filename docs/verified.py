#!/usr/bin/env python3
"""Writes docs/results/verified/NAME.json, from which docs/build.sh makes the table "Verified on" of docs/implementations.md.

    docs/verified.py NAME [--suite LOG] [-- COMMAND...]

COMMAND runs crisol on one OpenCL implementation, as tests/run.sh sets it up:

    docs/verified.py pocl-3.1 --suite build/tests/pocl.log -- env OCL_ICD_VENDORS=build/tests/icd/pocl build/bin/crisol

The report is that of `COMMAND doctor --full --json`, without what tells of the machine alone; without COMMAND it is the
report that is there. LOG is the log that tests/run.sh wrote of all tests on that implementation.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, usage="%(prog)s NAME [--suite LOG] [-- COMMAND...]",
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("name")
parser.add_argument("--suite", metavar="LOG", type=Path)
# argparse takes no positional arguments after an option, so the command is cut off first.
arguments = sys.argv[1:]
split = arguments.index("--") if "--" in arguments else len(arguments)
options, command = parser.parse_args(arguments[:split]), arguments[split + 1 :]

path = Path(__file__).resolve().parent / "results/verified" / f"{options.name}.json"


def counts(log):
    found = re.findall(r"^crisol_tests: (\d+) passed, (\d+) failed, (\d+) skipped$", log.read_text(errors="replace"), re.M)
    if len(found) != 1:
        sys.exit(f"verified.py: {log} is not the log of one run of all tests")
    return dict(zip(("passed", "failed", "skipped"), map(int, found[0])))


def examined(command):
    run = subprocess.run([*command, "doctor", "--full", "--json"], stdout=subprocess.PIPE, text=True)
    report = json.loads(run.stdout)
    if len(report["opencl"]["devices"]) != 1:
        sys.exit("verified.py: the command must see one device")
    if "selftest" not in report["opencl"]["devices"][0]:
        sys.exit("verified.py: the report holds no selftest of the device")
    kept = {key: report[key] for key in ("format", "version", "date", "crisol")}
    device = report["opencl"]["devices"][0]
    device["verifications"] = [one for one in device["verifications"] if not one["agrees"]]
    return kept | {"system": report["system"]["system"], "device": device, "suite": None}


report = examined(command) if command else json.loads(path.read_text())
if options.suite:
    report["suite"] = counts(options.suite)
path.write_text(json.dumps(report, indent=2) + "\n")
