"""crisol.profiler: times of ops and of marked parts, steps of a schedule, and files."""

import json

import crisol
import pytest
from crisol import profiler


def work():
    (crisol.ones(3, 3) @ crisol.ones(3, 3)).sum().item()


def test_rows(tmp_path):
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], record_shapes=True) as measured:
        with profiler.record_function("mine"):
            work()
            work()
    rows = {row.key: row for row in measured.key_averages()}
    assert rows["matmul"].count == 2 and rows["mine"].count == 1 and rows["matmul"].device_time_total > 0
    assert rows["mine"].cpu_time_total >= rows["matmul"].cpu_time_total == 2 * rows["matmul"].cpu_time > 0
    lines = measured.key_averages().table(sort_by="self_cuda_time_total", row_limit=2).splitlines()
    assert lines[0].split()[:2] == ["Name", "Calls"] and len(lines) == 3
    measured.export_chrome_trace(str(tmp_path / "trace.json"))
    assert any(event["name"] == "matmul" for event in json.loads((tmp_path / "trace.json").read_text()))


def test_steps(tmp_path):
    saved = []

    def handle(measured):
        saved.append((measured.step_num, measured.key_averages()[0].count))
        profiler.tensorboard_trace_handler(str(tmp_path / "runs"))(measured)

    steps = profiler.schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    kinds = [steps(i).name for i in range(10)]
    assert kinds == ["NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"] + ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE"]
    with profiler.profile(schedule=steps, on_trace_ready=handle) as measured:
        for _ in range(10):
            with profiler.record_function("step"):
                work()
            measured.step()
    assert [step for step, _ in saved] == [5, 9] and len(list((tmp_path / "runs").iterdir())) == 2


def test_before_the_end():
    with profiler.profile() as measured, pytest.raises(RuntimeError, match="nothing was measured yet"):
        measured.key_averages()
