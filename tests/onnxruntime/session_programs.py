"""Threads, the end of programs, leaks, and machines without a device."""
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import numpy as np

from provider import PROVIDER, session_of
from session_nets import image, small_net


def test_threads_share_sessions(devices):
    model = small_net()
    sessions, alone = [session_of(model, devices) for _ in range(2)], session_of(model, [])
    faults = []

    def work(seed):
        random = np.random.default_rng(seed)
        for i in range(25):
            x = random.standard_normal((1 + i % 3, 3, 6, 6)).astype(np.float32)
            found, expected = sessions[(seed + i) % 2].run(None, {"x": x})[0], alone.run(None, {"x": x})[0]
            if not np.allclose(found, expected, rtol=1e-4, atol=1e-5):
                faults.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults


def test_threads_make_and_release_sessions(devices):
    model, x = small_net(), image()
    expected = session_of(model, []).run(None, {"x": x})[0]
    faults = []

    def work():
        for _ in range(20):
            if not np.allclose(session_of(model, devices).run(None, {"x": x})[0], expected, rtol=1e-4, atol=1e-5):
                faults.append("other results")

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults


def test_programs_end(devices, library):
    """The library is unloaded by the program, or at its end with sessions and results that are in use."""
    start = ("import sys, numpy as np, onnxruntime as ort\n"
             "from provider import PROVIDER, register, session_of\n"
             "devices = register(sys.argv[1])\n"
             "session = session_of(sys.stdin.buffer.read(), devices)\n"
             "binding = session.io_binding()\n"
             "binding.bind_cpu_input('x', np.ones((1, 3, 5, 5), np.float32))\n"
             "binding.bind_output('y')\n"
             "session.run_with_iobinding(binding)\n"
             "y = binding.get_outputs()\n")
    unload = ("text = y[0].numpy().tolist()\n"
              "del binding, y, session, devices\n"
              "ort.unregister_execution_provider_library(PROVIDER)\n"
              "assert not [d for d in ort.get_ep_devices() if d.ep_name == PROVIDER]\n"
              "assert register(sys.argv[1])\n")
    for program in (start, start + unload):
        result = subprocess.run([sys.executable, "-c", program + "print('at the end')\n", str(pathlib.Path(library).resolve())],
                                input=small_net(), env=os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parent)},
                                capture_output=True)
        assert result.returncode == 0 and b"at the end" in result.stdout, (result.returncode, result.stderr.decode())


def test_a_session_outlives_another(devices):
    model = small_net()
    x = image()
    first, second = session_of(model, devices), session_of(model, devices)
    expected = first.run(None, {"x": x})[0]
    del first
    gc.collect()
    assert np.array_equal(second.run(None, {"x": x})[0], expected)


def resident_bytes():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_sessions_do_not_leak(devices, sessions=1000):
    model = small_net()
    x = image()

    def use(times):
        for _ in range(times):
            session_of(model, devices).run(None, {"x": x})
        gc.collect()

    use(50)
    before = resident_bytes()
    use(sessions)
    growth = (resident_bytes() - before) / sessions
    assert growth < 4e3, f"{growth:.0f} bytes for each session"


def test_a_machine_without_devices(devices, library):
    program = ("import sys, onnxruntime as ort\n"
               "ort.register_execution_provider_library('crisol', sys.argv[1])\n"
               f"assert not [d for d in ort.get_ep_devices() if d.ep_name == '{PROVIDER}']\n"
               "ort.InferenceSession(sys.stdin.buffer.read(), providers=['CPUExecutionProvider'])\n")
    with tempfile.TemporaryDirectory() as empty:
        clean = {name: text for name, text in os.environ.items() if not name.startswith("OCL_ICD_")}
        result = subprocess.run([sys.executable, "-c", program, str(pathlib.Path(library).resolve())], input=small_net(),
                                env=clean | {"OCL_ICD_VENDORS": empty}, capture_output=True)
    text = result.stderr.decode()
    assert result.returncode == 0, text
    assert text.count("crisol finds no OpenCL device") == 1, text
