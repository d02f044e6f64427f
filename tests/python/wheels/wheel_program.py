"""wheel_program.py PLATFORM…: a small program of a user of the wheel, which must see exactly these platforms. Without one it
must get the error that says what to install. Run by tests/python/wheels/run.sh."""

import sys
import time

start = time.perf_counter()
import crisol  # noqa: E402

print(f"imported crisol {crisol.__version__} from {crisol.__path__[0]} in {time.perf_counter() - start:.3f} s")
with open("/proc/self/maps") as maps:
    print("loader:", {line.split()[-1] for line in maps if "libOpenCL" in line})
wanted = set(sys.argv[1:])
found = {device.info["platform"] for device in crisol.devices()}
print("platforms:", sorted(found))
assert found == wanted, (found, wanted)
if wanted:
    for device in crisol.devices():
        x = crisol.arange(6, dtype=crisol.float32, device=device).reshape(2, 3)
        assert (x * x + 1).sum().item() == 61
else:
    try:
        crisol.ones(3)
    except crisol.DeviceNotFoundError as error:
        print(error)
        assert "pip install crisol[cpu]" in str(error) and "apt install pocl-opencl-icd" in str(error)
    else:
        raise AssertionError("no error without a device")
