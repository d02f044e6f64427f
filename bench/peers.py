"""Builds each peer's program where needed and makes the command that starts it."""

import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


class NoPeer(Exception):
    """The peer is not available; the text says what to do."""


def openmp(threads):
    return {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true"}


def crisol_threads(threads):
    return {"POCL_AFFINITY": "1", "POCL_MAX_PTHREAD_COUNT": str(threads)}


def find(root, name, folders):
    """The first folder of `folders`, below `root`, with a file called `name`."""
    for folder in folders:
        if (root / folder / name).exists():
            return root / folder
    raise NoPeer(f"{root} has no {name} in {', '.join(folders)}")


def build(source, includes, library_folder, libraries, options):
    """Compiles a peer's program if it is missing or older than its sources; returns its path."""
    folder = pathlib.Path(options.peer_build)
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / source.stem
    newest = max(path.stat().st_mtime for path in (source, HERE / "peer.h"))
    if program.exists() and program.stat().st_mtime > newest:
        return program
    command = [os.environ.get("CXX", "c++"), "-std=c++17", "-O2", str(source), "-o", str(program)]
    command += [f"-I{include}" for include in includes]
    command += [f"-L{library_folder}", *(f"-l{library}" for library in libraries), f"-Wl,-rpath,{library_folder}"]
    print("building", program, flush=True)
    if subprocess.run(command).returncode != 0:
        raise NoPeer(f"{source.name} does not compile")
    return program


def make_torch(options):
    command = [options.peer_python, str(HERE / "peer_torch.py"), "--seconds", str(options.seconds), "--threads",
               str(options.threads), *options.peer_option]  # fmt: skip
    return command, openmp(options.threads)


def make_onednn(options):
    if not options.peer_path:
        raise NoPeer(
            "name the folder that holds oneDNN's include/ and lib/ (version 3) by --peer-path: a venv after "
            "pip install onednn-cpu-gomp onednn-devel-cpu-gomp"
        )
    root = pathlib.Path(options.peer_path).resolve()
    include = find(root, "dnnl.hpp", ["include"])
    library = find(root, "libdnnl.so", ["lib", "lib64", "lib/x86_64-linux-gnu"])
    program = build(HERE / "peer_onednn.cpp", [include], library, ["dnnl"], options)
    return [str(program), str(options.seconds)], openmp(options.threads)


def make_dlprimitives(options):
    if not options.peer_path:
        raise NoPeer(
            "name a build of DLPrimitives by --peer-path: the folder below its sources that holds libdlprim.so, which "
            "cmake makes from github.com/artyom-beilis/dlprimitives"
        )
    root = pathlib.Path(options.peer_path).resolve()
    library = find(root, "libdlprim.so", ["."])
    sources = next((folder for folder in root.parents if (folder / "include/dlprim/net.hpp").exists()), None)
    if sources is None:
        raise NoPeer(f"no folder above {root} has include/dlprim/net.hpp")
    program = build(HERE / "peer_dlprimitives.cpp", [sources / "include", root], library,
                    ["dlprim", "dlprim_core", "OpenCL"], options)  # fmt: skip
    return [str(program), str(options.seconds), *options.peer_option], {}


def make_engine(options):
    imports = subprocess.run([options.peer_python, "-c", f"import numpy, {options.peer}"], capture_output=True)
    if imports.returncode != 0:
        raise NoPeer(
            f"{options.peer_python} lacks the package {options.peer}: python3 -m venv venv && venv/bin/pip install "
            f"{options.peer} numpy, and --peer-python venv/bin/python"
        )
    command = [options.peer_python, str(HERE / "peer_engine.py"), "--engine", options.peer, "--crisol", options.crisol,
               "--models", str(pathlib.Path(options.peer_build) / "models"), "--seconds", str(options.seconds),
               "--threads", str(options.threads)]  # fmt: skip
    return command, {}


def make_python(options):
    return [options.peer_python, str(HERE / "peer_python.py"), "--seconds", str(options.seconds)], {}


def make_clblast(options):
    # crisol itself with CLBlast's products, so both sides have the same operands, launches and clock.
    command = [options.crisol, "bench", "--serve", "--seconds", str(options.seconds)]
    if options.device:
        command += ["--device", options.device]
    return command, {"CRISOL_VARIANT": "matmul:clblast", **crisol_threads(options.threads)}


MAKERS = {"torch": make_torch, "python": make_python, "onednn": make_onednn, "dlprimitives": make_dlprimitives,
          "clblast": make_clblast, "onnxruntime": make_engine, "openvino": make_engine}  # fmt: skip


def make_peer(options):
    return MAKERS[options.peer](options)
