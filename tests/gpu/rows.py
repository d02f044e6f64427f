"""Rows of the table: a kernel, a target, a work-group size, and the problems of this combination."""

import json
import os

from architecture import occupancy

HERE = os.path.dirname(os.path.abspath(__file__))


def known_spills():
    """Reads [(kernel, target)], "*" for any, from lines "kernel target: reason"."""
    with open(os.path.join(HERE, "known_spills.txt")) as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    return [tuple(line.split(":")[0].split()) for line in lines]


def launches_by_group(launches):
    """Groups launches by work-group size and by the local memory that is given as an argument."""
    sizes = {}
    for launch in launches:
        key = (tuple(launch["local"]), launch["local_argument_bytes"])
        sizes.setdefault(key, []).append(launch)
    return sizes


def rows_of(index, program, target, result, known):
    """Rows of the table for one program, with its problems."""
    device = index["device"]
    for kernel in program["kernels"]:
        name = kernel["name"]
        figures = result.get("kernels", {}).get(name)
        case = index["parts"][min(launch["part"] for launch in kernel["launches"])]
        row = dict(kernel=name, case=case, program=program["file"], device=device["name"], target=target)
        if figures is None:
            row["problems"] = [result.get("error", "the compiled program has no such kernel")]
            yield row
            continue
        for (local, dynamic), launches in launches_by_group(kernel["launches"]).items():
            items = 1
            for size in local:
                items *= size
            bytes_ = figures["local"] + dynamic
            groups, part = occupancy(target, figures["registers"], bytes_, items, figures["simd"])
            yield dict(row, local_size=list(local), times=sum(launch["times"] for launch in launches),
                       registers=figures["registers"], spill_bytes=figures["spills"], private_bytes=figures["private"],
                       local_bytes=bytes_, simd=figures["simd"], groups=groups, occupancy=round(part, 3),
                       loop=figures["loop"], without_loop=None if figures["loop"] else figures["all"],
                       problems=list(problems_of(device, target, name, figures, local, items, bytes_, groups, known)))  # fmt: skip


def problems_of(device, target, name, figures, local, items, local_bytes, groups, known):
    if figures["spills"] and not any(kernel in ("*", name) and where in ("*", target) for kernel, where in known):
        yield f"spills {figures['spills']} bytes"
    if local_bytes > device["local_memory"]:
        yield f"takes {local_bytes} bytes of local memory, the device has {device['local_memory']}"
    if items > device["max_work_group"]:
        yield f"has {items} work-items in a group, the device takes {device['max_work_group']}"
    required = figures["required"]
    if required and [*local, 1, 1][:3] != [*required, 1, 1][:3]:
        yield f"is queued in groups of {list(local)}, its attribute says {required}"
    if groups == 0:
        yield f"fits on no unit: {figures['registers']} registers, {local_bytes} bytes, {items} work-items"


def unique(rows):
    """Devices with the same target and launches give the same rows. Only the first row is kept."""
    seen = {}
    for row in rows:
        key = json.dumps([row[name] for name in ("kernel", "target", "case") if name in row] +
                         [row.get(name) for name in ("local_size", "registers", "local_bytes", "loop", "problems")])  # fmt: skip
        seen.setdefault(key, row)
    return list(seen.values())
