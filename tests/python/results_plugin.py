"""A pytest plugin that all Python tests use: pytest -p results_plugin. Prints results as tests/run.sh reads them, and checks
that the tests run on the device that was meant."""

import os
import pathlib

import pytest

progress = os.environ.get("CRISOL_TEST_PROGRESS")
counts = {"passed": 0, "failed": 0, "skipped": 0}
lines = []


@pytest.fixture(scope="session", autouse=True)
def expected_platform():
    """Without this check, a driver that is missing would let all tests run on another one."""
    expected = os.environ.get("CRISOL_TEST_EXPECT_PLATFORM")
    if expected:
        import crisol

        assert crisol.device().info["platform"] == expected


def pytest_runtest_logstart(nodeid, location):
    if progress:
        pathlib.Path(progress).write_text(nodeid)


def pytest_runtest_logreport(report):
    """A test case counts once: by its call, or by the set-up or tear-down that failed or skipped it."""
    if report.when == "call" or not report.passed:
        outcome = "passed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
        counts[outcome] += 1
        if outcome == "failed":
            lines.append(f"[failed] {report.nodeid}")
        elif outcome == "skipped":
            add_skipped(report)


def add_skipped(report):
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    lines.append(f"[skipped] {report.nodeid}: {str(reason).removeprefix('Skipped: ')}")


def pytest_collectreport(report):
    """A file that cannot be read counts as one failed test case, and one that skips itself as a skipped one."""
    if not report.passed:
        counts[report.outcome] += 1
        if report.skipped:
            add_skipped(report)
        else:
            lines.append(f"[failed] {report.nodeid}")


def pytest_unconfigure(config):
    for line in lines:
        print(line)
    print("python: " + ", ".join(f"{number} {outcome}" for outcome, number in counts.items()))
