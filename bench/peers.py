"""How each peer's process is started: its command and the variables that it needs."""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def threads_of_openmp(threads):
    # Workers that go to sleep soon do not disturb crisol's turn.
    return {
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "OMP_PROC_BIND": "true",
    }


def make_torch(options):
    command = [options.peer_python, str(HERE / "peer_torch.py"), "--seconds", str(options.seconds), "--threads",
               str(options.threads), *options.peer_option]
    return command, threads_of_openmp(options.threads)


def make_peer(options):
    return {"torch": make_torch}[options.peer](options)
