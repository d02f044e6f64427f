"""Computes how many work-groups a GPU runs at once, from the vendors' public documents."""

import math

# NVIDIA, CUDA C++ Programming Guide, "Technical specifications per compute capability": warps and blocks of a
# multiprocessor, its shared memory, and the shared memory that each block reserves.
NVIDIA = {
    "sm_75": dict(warps=32, blocks=16, shared=64 << 10, reserved=0),
    "sm_80": dict(warps=64, blocks=32, shared=164 << 10, reserved=1 << 10),
    "sm_86": dict(warps=48, blocks=16, shared=100 << 10, reserved=1 << 10),
    "sm_89": dict(warps=48, blocks=24, shared=100 << 10, reserved=1 << 10),
    "sm_90": dict(warps=64, blocks=32, shared=228 << 10, reserved=1 << 10),
}
# AMD, LLVM's AMDGPU backend: waves and vector registers of a SIMD, and the step in which registers are allocated. There
# is also the local memory of the unit whose four SIMDs a work-group shares. This unit is a compute unit, or from gfx10
# on a work-group processor.
AMD = {
    "gfx906": dict(wave=64, waves=10, registers=256, step=4, local=64 << 10),
    "gfx90a": dict(wave=64, waves=8, registers=512, step=8, local=64 << 10),
    "gfx942": dict(wave=64, waves=8, registers=512, step=8, local=64 << 10),
    "gfx1030": dict(wave=32, waves=16, registers=1024, step=16, local=128 << 10),
    "gfx1100": dict(wave=32, waves=16, registers=1536, step=24, local=128 << 10),
    "gfx1201": dict(wave=32, waves=16, registers=1536, step=24, local=128 << 10),
}
# Intel, oneAPI GPU optimization guide: threads of a subslice (Xe core) and its shared local memory.
INTEL = {
    "skl": dict(threads=56, local=64 << 10),
    "tgllp": dict(threads=112, local=128 << 10),
    "dg2": dict(threads=128, local=128 << 10),
    "pvc": dict(threads=64, local=128 << 10),
}


def vendor_of(target):
    for name, table in (("nvidia", NVIDIA), ("amd", AMD), ("intel", INTEL)):
        if target in table:
            return name
    raise SystemExit(f"offline_check: unknown target {target}; known: {', '.join([*NVIDIA, *AMD, *INTEL])}")


def round_up(value, step):
    return -(-value // step) * step


def occupancy(target, registers, local_bytes, work_items, simd):
    """Returns (groups that a unit runs at once, their share of its maximum threads). 0 groups: cannot be launched."""
    vendor = vendor_of(target)
    if vendor == "nvidia":
        unit = NVIDIA[target]
        warps = math.ceil(work_items / 32)
        of_a_warp = round_up(max(registers, 1) * 32, 256)
        by_registers = (65536 // of_a_warp // 4 * 4) // warps  # Each scheduler has a quarter of the register file.
        by_memory = unit["shared"] // max(1, round_up(local_bytes + unit["reserved"], 128))
        groups = min(unit["blocks"], unit["warps"] // warps, by_registers, by_memory)
        return groups, groups * warps / unit["warps"]
    if vendor == "amd":
        unit = AMD[target]
        waves = math.ceil(work_items / unit["wave"])
        of_a_simd = min(unit["waves"], unit["registers"] // round_up(max(registers, 1), unit["step"]))
        groups = min(4 * of_a_simd // waves, unit["local"] // max(1, local_bytes))
        return groups, groups * waves / (4 * unit["waves"])
    unit = INTEL[target]
    threads = math.ceil(work_items / simd)
    groups = min(unit["threads"] // threads, unit["local"] // max(1, round_up(local_bytes, 1024)))
    return groups, groups * threads / unit["threads"]
