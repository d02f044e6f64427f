"""python_faults.py SCENARIO: the last rank fails while the others wait for it. tests/dist/run.sh checks how the run ends."""

import sys
import threading
import time

import crisol
from crisol import distributed as dist


def throw():
    raise RuntimeError("the scenario threw")


dist.init()
dist.barrier()
if dist.rank() == dist.world() - 1:
    if sys.argv[1] == "throw":
        throw()
    if sys.argv[1] == "thread":
        threading.Thread(target=throw).start()
        time.sleep(60)
    if sys.argv[1] == "fail":
        dist.fail("the scenario gave up")
    sys.exit(0)
dist.all_reduce(crisol.ones(3))
