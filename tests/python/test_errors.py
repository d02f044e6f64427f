"""Errors, threads, signals and processes."""

import os
import subprocess
import sys
import threading
import time

import crisol
import numpy as np
import pytest


def run(code, arguments=(), **environment):
    """Runs code in a Python of its own and returns its result."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)


def test_classes():
    for name, builtin in (
        ("InvalidArgumentError", ValueError),
        ("DeviceNotFoundError", RuntimeError),
        ("OutOfMemoryError", MemoryError),
        ("FileError", OSError),
        ("MissingFileError", FileNotFoundError),
        ("OutOfRangeError", IndexError),
    ):
        error = getattr(crisol, name)
        assert issubclass(error, crisol.Error) and issubclass(error, builtin)


def test_text_and_class():
    with pytest.raises(crisol.InvalidArgumentError, match=r"\[add\] shapes \(2\) and \(3\)"):
        crisol.ones((2,)) + crisol.ones((3,))
    with pytest.raises(crisol.DeviceNotFoundError, match="no device matches"):
        crisol.device("no such device")
    with pytest.raises(TypeError):
        crisol.ones("a")
    with pytest.raises(MemoryError):
        crisol.empty((2**40,))


def test_without_a_platform(tmp_path):
    result = run("import crisol; crisol.ones((2,))", OCL_ICD_VENDORS=str(tmp_path), OCL_ICD_FILENAMES="")
    assert result.returncode != 0
    assert "DeviceNotFoundError" in result.stderr
    assert "pip install crisol[cpu]" in result.stderr and "pocl-opencl-icd" in result.stderr


def test_threads():
    failures = []

    def work(seed):
        x = crisol.full((100,), float(seed))
        for _ in range(50):
            x = x + 1
        if x.tolist() != [seed + 50.0] * 100:
            failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


on_cpu = pytest.mark.skipif(
    crisol.device().type != "cpu", reason="a kernel cannot see what the host writes while it runs"
)


@on_cpu
def test_other_threads_run_while_one_waits():
    flag, saw_two, values = np.zeros(1, np.int32), crisol.zeros(1), []
    on_device = crisol.from_dlpack(flag, copy=False)
    # The kernel ends by itself after a minute, so a lock that is not free is a failure and no deadlock.
    look = crisol.Kernel(
        """kernel void look(global volatile int* flag, global float* saw_two) {
             for (long i = 0; i < (1L << 36) && flag[0] != 2; ++i);
             saw_two[0] = flag[0] == 2;
           }""",
        "look",
    )

    def wait():
        flag[0] = 1
        values.extend(saw_two.tolist())

    flag[0] = 2
    look(1, on_device, saw_two)  # Builds the kernel.
    saw_two.tolist()
    flag[0] = 0
    look(1, on_device, saw_two)
    thread = threading.Thread(target=wait)
    thread.start()
    while flag[0] == 0:
        time.sleep(0.001)
    time.sleep(0.05)  # Now the thread waits.
    flag[0] = 2
    thread.join()
    assert values == [1]


LONG_WAIT = """
import crisol, os, signal, sys, threading, time
x = crisol.ones((600, 600))
y = x @ x
y.tolist()
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    while True:
        for _ in range(2000):
            y = (y @ x) * 1e-3
        y.sum().item()
except KeyboardInterrupt:
    print("interrupted")
    sys.stdout.flush()
    os._exit(0)
"""


def test_a_signal_ends_a_wait():
    result = run(LONG_WAIT)
    assert result.stdout.strip() == "interrupted", result.stderr


FORK = """
import crisol, os
x = crisol.ones((3,))
x.tolist()
child = os.fork()
if child == 0:
    try:
        x.tolist()
    except crisol.Error as error:
        os._exit(0 if "fork" in str(error) else 1)
    os._exit(2)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert x.tolist() == [1, 1, 1]
"""


def test_fork_is_refused():
    result = run(FORK)
    assert result.returncode == 0, result.stderr


SUB_INTERPRETER = """
try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
other = interpreters.create()
code = '''
try:
    import crisol
except ImportError as error:
    text = str(error) + str(error.__cause__)
    assert "interpreter" in text, text
else:
    raise AssertionError("crisol was imported")
'''
result = run(other, code)
assert result is None, result
"""


def test_sub_interpreters_are_refused():
    result = run(SUB_INTERPRETER)
    assert result.returncode == 0, result.stderr


EACH_WAIT = """
import crisol, os, signal, sys, threading, time
import numpy as np

flag = np.zeros(1, np.int32)
on_device = crisol.from_dlpack(flag, copy=False)
x = crisol.ones(16)
wait = crisol.Kernel(
    "kernel void wait(global volatile int* flag, global float* x) { while (flag[0] == 0); x[0] += 0; }", "wait"
)
waits = {
    "item": lambda: x[0].item(),
    "repr": lambda: repr(x),
    "mask": lambda: x[x > 0],
    "mask_write": lambda: x.__setitem__(x > 0, crisol.ones(16)),
    "contains": lambda: 5 in x,
    "save": lambda: crisol.save({"x": x}, sys.argv[1]),
    "nonzero": lambda: crisol.nonzero(x),
    "unique": lambda: crisol.unique_values(x),
    "masked_select": lambda: crisol.masked_select(x, x > 0),
    "dlpack": lambda: np.from_dlpack(x, copy=False),
}

def finish():
    flag[0] = 1

def interrupted(function):
    flag[0] = 1
    function()  # Builds its kernels.
    x.device.synchronize()
    flag[0] = 0
    time.sleep(0.05)  # A wait soon after another one is taken for a short one.
    wait(1, on_device, x)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    late = threading.Timer(20, finish)
    late.start()
    try:
        function()
    except KeyboardInterrupt:
        pass
    early = flag[0] == 0  # The kernel still waits.
    late.cancel()
    finish()
    x.device.synchronize()
    return early

print([name for name, function in waits.items() if not interrupted(function)])
"""


@on_cpu
def test_a_signal_ends_each_wait(tmp_path):
    result = run(EACH_WAIT, arguments=[str(tmp_path / "x.safetensors")])
    assert result.stdout.strip() == "[]", result.stderr


def test_errors_name_dtypes_and_scopes_as_python_does():
    with pytest.raises(ValueError, match="float32") as error:
        crisol.zeros(3).index_select(0, crisol.zeros(2))
    assert "f32" not in str(error.value).replace("float32", "")
    x = crisol.zeros(3).requires_grad_()
    with pytest.raises(ValueError, match=r"crisol\.no_grad\(\)"):
        x.add_(1)
    with pytest.raises(TypeError, match="function.*is no module"):
        crisol.nn.Sequential(lambda x: x)


def test_dtypes_by_name():
    x = crisol.ones((2,))
    assert x.to("float16").dtype is crisol.float16 and crisol.zeros(2, dtype="int64").dtype is crisol.int64
    assert crisol.sum(x, dtype="float16").dtype is crisol.float16
    with pytest.raises(TypeError, match=r"ones\(\): dtype is the str 'float128', .*the dtypes are bool, uint8"):
        crisol.ones(2, dtype="float128")


@pytest.mark.parametrize("call", [
    lambda dtype: crisol.ones((2,), dtype=dtype),
    lambda dtype: crisol.astype(crisol.ones(2), dtype),
    lambda dtype: crisol.asarray([1.0], dtype=dtype),
    lambda dtype: crisol.sum(crisol.ones(2), dtype=dtype),
])
def test_error_of_a_dtype_that_does_not_exist(call):
    with pytest.raises(TypeError, match="the dtypes are bool, "):
        call("float128")


def test_no_message_of_the_binding_on_stderr(capfd):
    crisol.ones(2).to("float16")
    with pytest.raises(TypeError):
        crisol.ones(2, dtype="float128")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("call", [
    lambda: crisol.ones((1,) * 26),
    lambda: crisol.ones(*[1] * 26),
    lambda: crisol.ones(1).reshape([1] * 26),
    lambda: crisol.sum(crisol.ones(1), axis=(0,) * 26),
])
def test_error_of_too_many_axes(call):
    with pytest.raises(ValueError, match="26 numbers are given, but a tensor has at most 25 axes"):
        call()
