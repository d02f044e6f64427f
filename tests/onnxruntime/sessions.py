"""Tests how ONNX Runtime's sessions use crisol's provider: tests/onnxruntime/run.sh starts this program.

The tests are functions in session_*.py.
"""
import argparse
import os
import pathlib
import sys
import traceback

import onnxruntime

import session_memory
import session_nodes
import session_programs
import session_samples
import session_sizes
import session_stored
from provider import register
from session_nets import Skipped


def tests():
    """The tests of all modules, by name."""
    modules = (session_memory, session_nodes, session_programs, session_samples, session_sizes, session_stored)
    return {name: one for module in modules for name, one in vars(module).items() if name.startswith("test_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libcrisol_ort.so")
    parser.add_argument("--only", default="", help="tests whose names contain this text")
    parser.add_argument("--sessions", type=int, default=1000, help="for the test of leaks")
    options = parser.parse_args()
    devices = register(options.library)
    assert devices, "the provider has no device"
    passed = failed = skipped = 0
    for name, test in sorted(tests().items()):
        if options.only not in name:
            continue
        if progress := os.environ.get("CRISOL_TEST_PROGRESS"):
            pathlib.Path(progress).write_text(name)  # For tests/watch.sh.
        more = {"library": options.library} if "library" in test.__code__.co_varnames[:test.__code__.co_argcount] else {}
        more |= {"sessions": options.sessions} if name.endswith("leak") else {}
        try:
            test(devices, **more)
            passed += 1
        except Skipped as reason:
            skipped += 1
            print(f"[skipped] {name}: {reason}", flush=True)
        except Exception:
            failed += 1
            print(f"[failed] {name}\n{traceback.format_exc()}", flush=True)
    print(f"ONNX Runtime {onnxruntime.__version__}")
    print(f"ort: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
