"""Runs the vendors' compilers on a program and returns figures of its kernels."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile

import assembly
from architecture import vendor_of

HERE = os.path.dirname(os.path.abspath(__file__))
AMD_BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"


class CompileError(Exception):
    pass


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "error" in line.lower() or "fatal" in line.lower()]
        raise CompileError("\n".join(lines[:8] or done.stdout.splitlines()[-8:]) or f"{command[0]} failed")
    return done.stdout


def version(program, pattern):
    try:
        found = re.search(pattern, run([program, "--version"]))
    except (CompileError, OSError):
        found = None
    return found[0] if found else "unknown"


class Tools:
    """The installed tools; `missing` says per vendor which tools are not installed."""

    def __init__(self, folder):
        folder = os.path.abspath(folder)
        self.missing = {}
        self.versions = {}
        places = os.environ.get("PATH", "").split(os.pathsep) + [
            "/usr/local/cuda/bin",
            os.path.join(folder, "triton/triton/backends/nvidia/bin"),
        ]
        find = lambda name: shutil.which(name, path=os.pathsep.join(places))
        self.clang = find("clang-19")
        self.ocloc = find("ocloc")
        self.ptxas, self.cuobjdump, self.nvdisasm = find("ptxas"), find("cuobjdump"), find("nvdisasm")
        self.libclc = os.path.join(folder, "libclc/usr/lib/clc/nvptx64--nvidiacl.bc")
        self.libdevice = next(filter(os.path.exists, (
            "/usr/local/cuda/nvvm/libdevice/libdevice.10.bc",
            os.path.join(folder, "triton/triton/backends/nvidia/lib/libdevice.10.bc"))), None)  # fmt: skip
        self.folder = folder
        self._check("nvidia", [("clang-19", self.clang), ("libclc-19", os.path.exists(self.libclc)),
                               ("libdevice", self.libdevice), ("ptxas", self.ptxas),
                               ("cuobjdump", self.cuobjdump), ("nvdisasm", self.nvdisasm)])
        self._check("amd", [("clang-19", self.clang), ("rocm-device-libs", os.path.isdir(AMD_BITCODE))])
        self._check("intel", [("ocloc (intel-opencl-icd)", self.ocloc)])
        if self.clang:
            self.versions["clang"] = version(self.clang, r"clang version [\d.]+")
        if "nvidia" not in self.missing:
            self.versions["ptxas"] = version(self.ptxas, r"V[\d.]+")
        if "intel" not in self.missing:
            self.versions["ocloc"] = self._package_version("intel-opencl-icd")
            self.iga = self._iga_folder()
        if "amd" not in self.missing:
            self.versions["rocm-device-libs"] = self._package_version("rocm-device-libs")

    def _check(self, vendor, parts):
        absent = [name for name, there in parts if not there]
        if absent:
            self.missing[vendor] = ", ".join(absent) + (" is" if len(absent) == 1 else " are") + " not installed"

    @staticmethod
    def _package_version(package):
        try:
            return run(["dpkg-query", "-W", "-f", "${Version}", package]).strip()
        except (CompileError, OSError):
            return "unknown"

    def _iga_folder(self):
        """ocloc looks for libiga64.so, but Debian's package without headers has only libiga64.so.1."""
        folder = os.path.join(self.folder, "iga")
        os.makedirs(folder, exist_ok=True)
        link = os.path.join(folder, "libiga64.so")
        if not os.path.lexists(link):
            os.symlink("/usr/lib/x86_64-linux-gnu/libiga64.so.1", link)
        return folder

    def key(self):
        """Changes with everything that affects the figures, except the program."""
        text = repr(sorted(self.versions.items()))
        for name in ("compilers.py", "assembly.py", "nvidia.cl"):
            with open(os.path.join(HERE, name)) as file:
                text += file.read()
        return hashlib.sha256(text.encode()).hexdigest()


def clang_command(tools, program, target, device):
    """The front end with the settings of the device's driver: the version of OpenCL C, and the extensions."""
    extensions = ",".join(["-all"] + ["+" + name for name in device["extensions"].split() if name.startswith("cl_khr")])
    number = re.search(r"OpenCL (\d)\.(\d)", device["device_version"])
    options = [word for word in program["options"].split() if not word.startswith("-cl-nv-")]
    return [
        tools.clang, "-x", "cl", "-O3", "-S", "-w", *options,
        f"-D__OPENCL_VERSION__={number[1]}{number[2]}0",
        "-Xclang", "-finclude-default-header", "-Xclang", "-cl-ext=" + extensions,
    ]  # fmt: skip


def compile_nvidia(tools, program, target, device, work):
    command = clang_command(tools, program, target, device)
    libraries = [word for path in (tools.libclc, tools.libdevice)
                 for word in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", path)]  # fmt: skip
    # Without the option, OpenCL allows 2.5 and 3 ulp for division and square root, and the driver uses this freedom.
    exact = "-cl-fp32-correctly-rounded-divide-sqrt" in program["options"]
    roots = [] if exact else ["-mllvm", "-nvptx-prec-divf32=1", "-mllvm", "-nvptx-prec-sqrtf32=0"]
    gpu = ["-target", "nvptx64--nvidiacl", f"-march={target}"]
    run(command + [*gpu, "-include", os.path.join(HERE, "nvidia.cl"), *libraries, "-emit-llvm", program["path"],
                   "-o", f"{work}/k.ll"])  # fmt: skip
    run([tools.clang, "-O3", "-S", "-w", *gpu, *roots, "-Xclang", "-disable-llvm-passes", f"{work}/k.ll", "-o", f"{work}/k.ptx"])
    with open(f"{work}/k.ll") as code, open(f"{work}/k.ptx") as ptx:
        required = assembly.required_sizes(code.read())
        with_sizes = assembly.with_required_sizes(ptx.read(), required)
    with open(f"{work}/k.ptx", "w") as ptx:
        ptx.write(with_sizes)
    limit = re.findall(r"-cl-nv-(maxrregcount=\d+)", program["options"])
    log = run([tools.ptxas, "-v", f"-arch={target}", *("-" + word for word in limit), f"{work}/k.ptx", "-o", f"{work}/k.cubin"])
    environment = dict(os.environ, PATH=os.path.dirname(tools.nvdisasm) + os.pathsep + os.environ["PATH"])
    sass = assembly.read_sass(run([tools.cuobjdump, "-sass", f"{work}/k.cubin"], env=environment))
    kernels = {}
    for name, part in re.findall(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry|\Z)", log, re.S):
        figure = lambda pattern: int(found[1]) if (found := re.search(pattern, part)) else 0
        kernels[name] = dict(
            registers=figure(r"Used (\d+) registers"),
            spills=figure(r"(\d+) bytes spill stores") + figure(r"(\d+) bytes spill loads"),
            private=figure(r"(\d+) bytes stack frame"),
            local=figure(r"(\d+) bytes smem"),
            required=required.get(name),
            simd=32,
            all=assembly.count(sass.get(name, [])),
            loop=assembly.count(assembly.inner_loop(sass.get(name, []))),
        )
    return kernels


def amd_libraries(target):
    number = target[3:]
    isa = next(one for one in (number, {"942": "940"}.get(number, "1030")) if
               os.path.exists(f"{AMD_BITCODE}/oclc_isa_version_{one}.bc"))  # fmt: skip
    wave64 = "on" if number.startswith("9") else "off"
    names = ["opencl", "ocml", "ockl", "oclc_daz_opt_off", "oclc_unsafe_math_off", "oclc_finite_only_off",
             "oclc_correctly_rounded_sqrt_on", "oclc_abi_version_500", f"oclc_wavefrontsize64_{wave64}",
             f"oclc_isa_version_{isa}"]  # fmt: skip
    return [word for name in names for word in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", f"{AMD_BITCODE}/{name}.bc")]


def compile_amd(tools, program, target, device, work):
    command = clang_command(tools, program, target, device)
    run(command + ["-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-mcode-object-version=5",
                   *amd_libraries(target), program["path"], "-o", f"{work}/k.s"])  # fmt: skip
    with open(f"{work}/k.s") as file:
        text = file.read()
    # In the metadata of a kernel, the kernel's name follows the names of its arguments.
    of_a_kernel = r"\.name:\s+(\w+)\n(?:(?!\s+(?:- )?\.name:).*\n)*?\s+"
    spills = dict(re.findall(of_a_kernel + r"\.vgpr_spill_count:\s+(\d+)", text))
    required = dict(re.findall(of_a_kernel + r"\.reqd_workgroup_size:\n((?:\s+- \d+\n)+)", text))
    kernels = {}
    for name, (code, figures) in assembly.read_gcn(text).items():
        kernels[name] = dict(
            registers=figures.get("NumVgprs", 0) + figures.get("NumAgprs", 0),
            spills=4 * int(spills.get(name, 0)),
            private=figures.get("ScratchSize", 0),
            local=figures.get("LDSByteSize", 0),
            required=[int(size) for size in re.findall(r"\d+", required[name])] if name in required else None,
            simd=64 if target.startswith("gfx9") else 32,
            all=assembly.count(code),
            loop=assembly.count(assembly.inner_loop(code)),
        )
    return kernels


def compile_intel(tools, program, target, device, work):
    command = [tools.ocloc, "compile", "-file", program["path"], "-device", target, "-output", "k"]
    log = run(command + ["-options", program["options"]], cwd=work)
    binary = next(name for name in os.listdir(work) if name.startswith("k_") and name.endswith(".bin"))
    environment = dict(os.environ, LD_LIBRARY_PATH=tools.iga)
    run([tools.ocloc, "disasm", "-file", binary, "-device", target, "-dump", "d"], cwd=work, env=environment)
    with open(f"{work}/d/PTM.txt") as file:
        tokens = file.read()
    kernels = {}
    for part in tokens.split("Kernel #")[1:]:
        name = re.search(r"KernelName (\w+)", part)[1]
        # The token for the kernel's own local memory: an offset, then the size, each as four bytes.
        token = re.search(r"4 Token 15\n\s+4 Size 16\n\s+Hex ([0-9a-f ]+)", part)
        size = [int(byte, 16) for byte in token[1].split()][4:8] if token else [0] * 4
        with open(f"{work}/d/{name}_KernelHeap.asm") as file:
            code, simd = assembly.read_iga(file.read())
        spilled = re.search(rf"kernel {name}\s.*spilled around (\d+)", log)
        kernels[name] = dict(
            registers=128,
            spills=32 * int(spilled[1]) if spilled else 0,
            private=0,
            local=int.from_bytes(bytes(size), "little"),
            required=None,
            simd=simd,
            all=assembly.count(code),
            loop=assembly.count(assembly.inner_loop(code)),
        )
    return kernels


COMPILERS = {"nvidia": compile_nvidia, "amd": compile_amd, "intel": compile_intel}


def kernels_of(tools, program, target, device):
    """Returns {kernel: figures}; raises CompileError."""
    with tempfile.TemporaryDirectory(prefix="offline-check-") as work:
        return COMPILERS[vendor_of(target)](tools, program, target, device, work)
