"""What all tests of the PyTorch device share."""

import os

# PoCL has two devices then. Both are the processor. Other drivers do not know the variable.
os.environ.setdefault("POCL_DEVICES", "pthread pthread")

import pytest
import torch
import torch_crisol


@pytest.fixture(scope="session", autouse=True)
def expected_platform():
    """The tests run on the driver that was meant."""
    expected = os.environ.get("CRISOL_TEST_EXPECT_PLATFORM")
    assert not expected or torch_crisol.get_device_properties().platform == expected


@pytest.fixture(autouse=True)
def silent_fallback():
    torch_crisol.set_fallback("silent")
    torch.manual_seed(0)
