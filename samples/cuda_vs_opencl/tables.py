#!/usr/bin/env python3
"""Writes the tables of docs/*.md from docs/results/, between markers.

    samples/cuda_vs_opencl/tables.py [--check]

--check changes nothing and fails when a page differs from its results.
"""

import argparse
import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
TASKS = {"relu_chain": "ReLU chain", "sgemm": "matrix product", "conv3x3": "3 × 3 convolution", "lstm_gates": "LSTM gates", "simple_cnn": "SimpleCNN", "shared": "shared by all"}  # fmt: skip


def table(heading, rows):
    line = lambda cells: "| " + " | ".join(str(cell) for cell in cells) + " |"
    return "\n".join([line(heading), "|" + "---|" * len(heading), *(line(row) for row in rows)])


def megabytes(count):
    if count < 1e6:
        return f"{count / 1e3:.0f} kB"
    return f"{count / 1e6:.1f} MB" if count < 1e7 else f"{count / 1e6:.0f} MB"


def milliseconds(ms):
    return f"{1e3 * ms:.1f} µs" if ms < 0.1 else f"{ms:.2f} ms" if ms < 100 else f"{ms:.0f} ms"


def kernels(data):
    rows = []
    for row in data["kernels"]:
        both = lambda read: " / ".join(str(read(row[side])) for side in ("nvcc", "clang"))
        mix = lambda side: f"{side['all']['fma']}, {side['all']['local']}, {side['all']['global']}"
        loop = lambda side: "–" if side["loop"] is None else f"{side['loop']['total']} ({side['loop']['fma']})"
        rows.append([f"`{row['kernel']}`", row["target"], both(lambda s: s["registers"]), both(lambda s: s["spills"]),
                     both(lambda s: s["shared"]), both(lambda s: s["all"]["total"]), both(mix), both(loop)])  # fmt: skip
    versions = data["versions"]
    return table(["kernel", "target", "registers", "bytes spilled", "bytes shared", "instructions", "of them fma, shared, global", "inner loop (fma)"], rows) + (  # fmt: skip
        f"\n\nnvcc {versions['nvcc'][1:]} / {versions['clang']} with ptxas {versions['ptxas'][1:]}, {data['date']}; "
        "instructions as the assembler counts them, padding included."
    )


def code(data):
    host = data["code"]["host"]
    cell = lambda count: f"{count['lines']} ({count['calls']})" if count["lines"] else "–"
    rows = [[TASKS[task], *(cell(side[task]) for side in host.values())] for task in TASKS]
    rows.append(["different calls, most in one row", *(max(count["different"] for count in side.values()) for side in host.values())])  # fmt: skip
    kernel = data["code"]["kernels"]
    rows.append(["kernels of all tasks", kernel["CUDA C++"], "–", kernel["OpenCL"], "–"])
    return table(["lines (calls)", *host], rows)


def shipped(data):
    size = data["sizes"]
    return table(["part", "size"], [
        ["cuBLAS with cuBLASLt", megabytes(size["cublas"])],
        ["cuDNN 9, all its libraries", megabytes(size["cudnn"])],
        ["the OpenCL twins' kernels, as source", megabytes(size["twin_kernels"])],
        ["libcrisol.so, stripped, with all its kernels as source", megabytes(size["crisol"])],
    ])  # fmt: skip


def circumstances(data):
    return f"\n\n{data['date']}, {data['machine']}, host code compiled with `{data['device_build']}`."


def devices_of(data):
    return [(device["name"], device["report"]["machines"][0]["devices"][0], device["twins"]) for device in data["devices"]]


def devices(data):
    rows = []
    for name, device, _ in devices_of(data):
        figure = device["figures"]
        gbps = lambda *keys: " / ".join(f"{figure[key]:.1f}" for key in keys)
        rows.append([name, milliseconds(figure["compile_ms"]), milliseconds(figure["load_ms"]),
                     f"{figure['launch_us']:.1f} µs", f"{figure['wait_us']:.1f} µs",
                     gbps("to_device_gbps", "pinned_to_device_gbps"), gbps("from_device_gbps", "pinned_from_device_gbps")])  # fmt: skip
    return table(["device", "compile, cold", "from its binary", "launch among many", "waited for",
                  "to it, GB/s: plain / pinned", "from it, GB/s: plain / pinned"], rows) + circumstances(data)  # fmt: skip


def twins(data):
    rows = []
    for name, _, result in devices_of(data):
        if result is None:
            continue
        by_task = {}
        for run in result["runs"]:
            by_task.setdefault(run["task"], {})[run["side"]] = run["ms"]
        for task, sides in by_task.items():
            rows.append([name, task, milliseconds(sides["OpenCL"]), milliseconds(sides["crisol"])])
    return table(["device", "task", "OpenCL, written for GPUs", "crisol"], rows) + circumstances(data)


def report(data):
    rows = []
    for name, device, _ in devices_of(data):
        for work in device["workloads"]:
            measured = work.get("median_ms")
            rows.append([name, work["title"], f"{work['flops'] / work['bytes']:.0f}", milliseconds(work["roofline_ms"]),
                         milliseconds(measured) if measured else "left out", f"{100 * work['roofline_ms'] / measured:.0f} %" if measured else "–"])  # fmt: skip
    return table(["device", "workload", "operations a byte", "roofline", "measured", "roofline / measured"], rows) + circumstances(data)


def memory(data):
    rows = [[row["net"], row["images"], f"{row['parameters'] / 1e6:.2f} M", f"{row['kept'] / 1e6:.2f} M",
             megabytes(row["formula_bytes"]), megabytes(row["measured_bytes"]),
             f"{row['measured_bytes'] / row['formula_bytes']:.2f}"] for row in data["steps"]]  # fmt: skip
    return table(["net", "images", "parameters", "kept of an image (A)", "formula", "measured", "ratio"], rows)


def short(ms):
    return f"{ms:.4f}" if ms < 0.1 else f"{ms:.3f}" if ms < 1 else f"{ms:.2f}"


def gpu_compare(data):
    rows = [[row["case"], short(row["peer_ms"]), short(row["ours_ms"]), f"{row['ratio']:.2f}"] for row in data["results"] if "ratio" in row]  # fmt: skip
    return table(["`bench …`", "PyTorch ms", "crisol ms", "ratio"], rows) + (
        f"\n\n{data['device']}, driver {data['driver']}, {data['peer'].split(' on ')[0]}, {data['date']}; "
        f"peak {data['peak_gflops'] / 1e3:.0f} TFLOP/s, {data['peak_gbps']:.0f} GB/s."
    )


def gpu_twins(data):
    by_task = {}
    for run in data["twins"]["runs"]:
        by_task.setdefault(run["task"], {})[run["side"]] = run["ms"]
    sides = ["CUDA C++", "cuBLAS, cuDNN", "OpenCL", "crisol"]
    rows = [[task, *(milliseconds(times[side]) if side in times else "–" for side in sides)] for task, times in by_task.items()]
    return table(["task", *sides], rows) + f"\n\n{data['machine']}, {data['date']}."


def gpu_device(data):
    figure = data["report"]["machines"][0]["devices"][0]["figures"]
    return table(["", "value"], [
        ["fp32 multiply-adds, measured peak", f"{figure['fp32_gflops'] / 1e3:.1f} TFLOP/s"],
        ["memory, triad", f"{figure['triad_gbps']:.0f} GB/s"],
        ["launch among many", f"{figure['launch_us']:.1f} µs"],
        ["launch, waited for", f"{figure['wait_us']:.1f} µs"],
        ["compile a small program, cold", milliseconds(figure["compile_ms"])],
        ["the same from its binary", milliseconds(figure["load_ms"])],
        ["to the device, plain / pinned", f"{figure['to_device_gbps']:.1f} / {figure['pinned_to_device_gbps']:.1f} GB/s"],
        ["from the device, plain / pinned", f"{figure['from_device_gbps']:.1f} / {figure['pinned_from_device_gbps']:.1f} GB/s"],
    ]) + f"\n\n{data['machine']}, {data['date']}."  # fmt: skip


def is_gpu(report):
    # Oclgrind reports itself as every type of device.
    return report["device"]["type"] == "gpu" and report["device"]["platform"] != "Oclgrind"


def verified(reports):
    rows = []
    for report in reports:
        device, suite = report["device"], report["suite"]
        test, failed = device["selftest"], len(device["selftest"]["failed"])
        kind = "simulator" if device["platform"] == "Oclgrind" else "GPU" if is_gpu(report) else device["type"].upper()
        tests = f"{suite['passed']} passed, {suite['failed']} failed, {suite['skipped']} skipped" if suite else "not counted"
        wrong = [f"{one['op']}:{one['variant']}" for one in device.get("verifications", []) if not one["agrees"]]
        checks = "no" if device["verified_driver"] else f"yes; passes over {', '.join(wrong) or 'none'}"
        rows.append([device["platform"], device["driver_version"], kind, report["system"], report["date"], report["crisol"]["version"],
                     f"{test['ops'] - failed} of {test['ops']} ops", tests, checks])  # fmt: skip
    if not any(map(is_gpu, reports)):
        rows.append(["every GPU of NVIDIA, AMD, Intel and others", "–", "GPU", "–", "–", "–", "**never run**", "**never run**", "yes"])
    return table(["platform", "driver", "device", "system", "date", "crisol", "`crisol selftest` agrees", "all tests", "[verifies](tuning.md#drivers-that-nobody-has-tried) variants"], rows)


def onnx_ops(results):
    _, data = results
    rows = []
    for op in data["supported"]:
        tests = data["ops"].get(op["name"], {"passed": 0, "tests": 0, "types": []})
        rows.append([op["name"], op["first"], f"{tests['passed']} of {tests['tests']}" if tests["tests"] else "–", ", ".join(tests["types"]) or "–"])  # fmt: skip
    return table(["op", "from version", "node tests passed", "element types in them"], rows)


def onnx_sets(results):
    _, data = results
    rows = [[name, sum(counts.values()), counts["passed"], counts["refused"] + counts["failed"], counts["wrong"]]
            for name, counts in data["sets"].items()]  # fmt: skip
    return table(["tests", "all", "passed", "refused", "wrong"], rows) + f"\n\nThe tests come from onnx {data['onnx']}."


def onnx_backends(results):
    others, data = results
    share = lambda passed: f"{passed:,} ({100 * passed / others['tests']:.0f} %)"
    rows = [["crisol", share(data["passed_of_backends_tests"])]]
    # Of some backends only the share is known, not the count.
    rows += [[one["name"], one.get("share") or share(one["passed"])] for one in others["backends"]]
    return table(["", f"node tests passed of {others['tests']:,}"], rows)


def read(path):
    """Reads a file of results, or all result files of a folder."""
    if path.is_dir():
        return [read(one) for one in sorted(path.glob("*.json"))]
    return json.loads(path.read_text())


# (page, results, {marker: table})
PAGES = [
    ("cuda-vs-opencl.md", "cuda-vs-opencl.json",
     {"kernels": kernels, "code": code, "sizes": shipped, "devices": devices, "twins": twins}),
    ("cuda-vs-opencl.md", "gpu-twins.json", {"gpu_twins": gpu_twins, "gpu_device": gpu_device}),
    ("performance.md", "gpu-h100.json", {"gpu_compare": gpu_compare}),
    ("performance.md", "gpu-h200.json", {"gpu_attention": gpu_compare}),
    ("choosing-a-gpu.md", "cuda-vs-opencl.json", {"report": report}),
    ("choosing-a-gpu.md", "memory.json", {"memory": memory}),
    ("implementations.md", "verified", {"verified": verified}),
    ("onnx.md", "onnx", {"onnx_ops": onnx_ops, "onnx_sets": onnx_sets, "onnx_backends": onnx_backends}),
]  # fmt: skip


def regenerated(text, results, tables):
    for name, make in tables.items():
        pattern = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.S)
        if not pattern.search(text):
            sys.exit(f"tables.py: no place for the table {name}")
        text = pattern.sub(lambda found: f"{found[1]}\n{make(results)}\n\n{found[2]}", text)
    return text


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--check", action="store_true")
options = parser.parse_args()
wrong = []
for page, results, tables in PAGES:
    path = DOCS / page
    before = path.read_text()
    after = regenerated(before, read(DOCS / "results" / results), tables)
    if after == before:
        continue
    wrong.append(path.name)
    if not options.check:
        path.write_text(after)
if wrong and options.check:
    sys.exit(f"tables.py: run docs/build.sh: {', '.join(wrong)} differ from docs/results")
