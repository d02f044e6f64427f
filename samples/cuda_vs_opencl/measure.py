#!/usr/bin/env python3
"""Compares CUDA and OpenCL as far as this machine can, and writes JSON: docs/results/cuda-vs-opencl.json.

    samples/cuda_vs_opencl/measure.py [--gpu-tools DIR] [--device NAME=VARIABLES]… [--output FILE]

Kernels: the CUDA kernels compiled by nvcc, and the OpenCL kernels compiled by clang and ptxas, for sm_80 and sm_90.
Code: lines and calls of the host programs.
Sizes: the files that a program has to ship.
Devices: `crisol report` and the sample itself on each --device, for example
--device pocl=OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd (blanks separate several variables).
docs/build.sh makes tables of the results.
"""

import argparse
import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/gpu"))

import assembly  # noqa: E402
import compilers  # noqa: E402

TASKS = {  # folder: kernels as (OpenCL file, kernel)
    "relu_chain": [("relu_chain.cl", "relu_chain")],
    "sgemm": [("sgemm.cl", "sgemm")],
    "conv3x3": [("conv3x3.cl", "conv3x3_relu")],
    "lstm_gates": [("lstm_gates.cl", "lstm_gates")],
    "simple_cnn": [("layers.cl", "max_pool"), ("layers.cl", "linear")],
}
TARGETS = {"sm_80": "nvidia-a100", "sm_90": "nvidia-h100"}

# Patterns: a match counts as a call of that side's interface. Different matches are different things to know.
CALLS = {
    "cuda": r"\b(?:cuda[A-Z]\w+|cublas[A-Z]\w+|cudnn[A-Z]\w+)\s*\(|<<<",
    "opencl": r"\bcl::[A-Z]\w+(?:::get)?(?:\s+\w+)?\s*[({]|\.(?:setArg|enqueue\w+|finish|build|getDevices|getInfo|getBuildInfo)\b",
    "crisol": r"\b(?:crisol::)?(?:fuse|from_vector|matmul|relu_epilogue|cat|synchronize)\b|\.(?:to_vector|forward|load_state_dict|select|flatten|eval)\b",
}
FILES = {  # side: files of a task, files that all tasks share
    "CUDA C++": (["cuda.cu"], ["cuda.h", "cuda.cu"], "cuda"),
    "cuBLAS, cuDNN": (["cublas.cu", "cudnn.cu"], ["cuda.h", "cuda_libraries.h", "cuda_libraries.cu"], "cuda"),
    "OpenCL": (["opencl.cpp"], ["opencl.h", "opencl.cpp"], "opencl"),
    "crisol": (["crisol.cpp"], ["crisol_side.h", "crisol_side.cpp"], "crisol"),
}


def figures(registers, spills, shared, code):
    return {"registers": registers, "spills": spills, "shared": shared, "all": assembly.count(code), "loop": assembly.count(assembly.inner_loop(code))}  # fmt: skip


def by_nvcc(tools, nvcc, task, target, work):
    """Compiles a task's cuda.cu; returns {kernel: figures} and the seconds that this took."""
    cubin, start = f"{work}/{task}.{target}.cubin", time.monotonic()
    command = [nvcc, "-std=c++17", "-O3", f"-arch={target}", f"-I{HERE}", "--cubin", "-Xptxas", "-v"]
    log = compilers.run([*command, HERE / task / "cuda.cu", "-o", cubin])
    seconds = time.monotonic() - start
    environment = dict(os.environ, PATH=os.path.dirname(tools.nvdisasm) + os.pathsep + os.environ["PATH"])
    sass = assembly.read_sass(compilers.run([tools.cuobjdump, "-sass", cubin], env=environment))
    kernels = {}
    for name, part in re.findall(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry|\Z)", log, re.S):
        figure = lambda pattern: int(found[1]) if (found := re.search(pattern, part)) else 0
        plain = re.match(r"_Z(\d+)(\w+)", name)
        kernels[plain[2][: int(plain[1])]] = figures(
            figure(r"Used (\d+) registers"),
            figure(r"(\d+) bytes spill stores") + figure(r"(\d+) bytes spill loads"),
            figure(r"(\d+) bytes smem"),
            sass.get(name, []),
        )
    return kernels, seconds


def by_clang(tools, task, file, target):
    """The same for a .cl file, compiled as tests/gpu compiles the library's kernels."""
    with open(ROOT / "devices" / f"{TARGETS[target]}.json") as text:
        device = json.load(text)
    program = {"path": str(HERE / task / file), "options": "-cl-std=CL1.2"}
    start = time.monotonic()
    kernels = compilers.kernels_of(tools, program, target, device)
    seconds = time.monotonic() - start
    same = lambda k: {"registers": k["registers"], "spills": k["spills"], "shared": k["local"], "all": k["all"], "loop": k["loop"]}
    return {name: same(kernel) for name, kernel in kernels.items()}, seconds


def compare_kernels(tools, nvcc):
    rows, seconds = [], {"nvcc": 0.0, "clang and ptxas": 0.0}
    with tempfile.TemporaryDirectory() as work:
        for target in TARGETS:
            for task, kernels in TASKS.items():
                cuda, took = by_nvcc(tools, nvcc, task, target, work)
                seconds["nvcc"] += took
                for file, kernel in kernels:
                    opencl, took = by_clang(tools, task, file, target)
                    seconds["clang and ptxas"] += took
                    rows.append({"kernel": kernel, "target": target, "nvcc": cuda[kernel], "clang": opencl[kernel]})
    return rows, seconds


def code_lines(path):
    """Lines that are neither empty nor comments."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return [line for line in text.splitlines() if line.strip() and not line.strip().startswith("//")]


def count_code():
    count = {}
    for side, (own, shared, language) in FILES.items():
        def of(paths):
            lines = [line for path in paths if path.exists() for line in code_lines(path)]
            calls = re.findall(CALLS[language], "\n".join(lines))
            names = {re.sub(r"[^\w:<].*|[({]", "", call.strip(". \n")).split()[0] for call in calls}
            return {"lines": len(lines), "calls": len(calls), "different": len(names)}
        count[side] = {task: of([HERE / task / name for name in own]) for task in TASKS}
        count[side]["shared"] = of([HERE / name for name in shared])
    kernels = lambda ending: sum(len(code_lines(Path(path))) for path in glob.glob(f"{HERE}/*/*.{ending}"))
    return {"host": count, "kernels": {"CUDA C++": kernels("cuh"), "OpenCL": kernels("cl")}}


def sizes(build):
    """Bytes of the libraries that a program needs in addition to itself and the driver."""
    folder = "/usr/local/cuda/lib64"
    size = lambda *patterns: sum(os.path.getsize(path) for pattern in patterns for path in glob.glob(f"{folder}/{pattern}"))
    stripped = tempfile.NamedTemporaryFile()
    subprocess.run(["strip", "-o", stripped.name, os.path.realpath(f"{build}/lib/libcrisol.so")], check=True)
    return {
        "cublas": size("libcublas.so.13", "libcublasLt.so.13"),
        "cudnn": size("libcudnn.so.9", "libcudnn_*.so.9"),
        "twin_kernels": sum(os.path.getsize(path) for path in glob.glob(f"{HERE}/*/*.cl")),
        "crisol": os.path.getsize(stripped.name),
    }


def build_flags(build):
    with open(f"{build}/CMakeCache.txt") as file:
        return re.search(r"CMAKE_CXX_FLAGS_RELEASE:\w+=(.*)", file.read())[1]


def processor():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
    return f"{found[1] if found else os.uname().machine}, {os.cpu_count()} cores"


def measure_device(build, name, variables):
    environment = {**os.environ, **dict(word.split("=", 1) for word in variables.split())}
    with tempfile.TemporaryDirectory() as folder:
        environment["CRISOL_CACHE_DIR"] = folder + "/cache"
        run = lambda *command: subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
        report = json.loads(run(f"{build}/bin/crisol", "report", "--json", "--device", "0:0"))
        twins = None
        if report["machines"][0]["devices"][0]["figures"]["fp32_gflops"] > 10:  # Slower ones would take minutes.
            run(f"{build}/bin/cuda_vs_opencl", "--device", "0:0", "--json", folder + "/twins.json")
            with open(folder + "/twins.json") as file:
                twins = json.load(file)
    return {"name": name, "report": report, "twins": twins}


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--gpu-tools", default=ROOT / "build/gpu-tools", help="folder of compilers that tests/run.sh unpacked")
parser.add_argument("--build", default=ROOT / "build")
parser.add_argument("--device", action="append", default=[], metavar="NAME=VARIABLES", help="an OpenCL implementation")
parser.add_argument("--only", choices=["code", "devices"], help="leave the rest of the output file as it is")
parser.add_argument("--output", type=Path, default=ROOT / "docs/results/cuda-vs-opencl.json")
options = parser.parse_args()

result = json.loads(options.output.read_text()) if options.only else {}
result["date"] = datetime.date.today().isoformat()
if options.only != "devices":
    tools = compilers.Tools(str(options.gpu_tools))
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if "nvidia" in tools.missing or not os.path.exists(nvcc):
        sys.exit(f"measure.py: {tools.missing.get('nvidia', 'nvcc is not installed')}")
    result["versions"] = {name: tools.versions[name] for name in ("clang", "ptxas")}
    result["versions"]["nvcc"] = compilers.version(nvcc, r"V[\d.]+")
    result["kernels"], result["compile_seconds"] = compare_kernels(tools, nvcc)
    result["code"] = count_code()
    result["sizes"] = sizes(options.build)
if options.only != "code":
    result["machine"] = processor()
    result["device_build"] = build_flags(options.build)
    result["devices"] = [measure_device(options.build, *device.split("=", 1)) for device in options.device]
options.output.write_text(json.dumps(result, indent=1) + "\n")
print(f"wrote {options.output}")
