"""What all tests of the Python package share."""

import gc

import crisol
import pytest

DTYPES = [crisol.bool, crisol.uint8, crisol.int8, crisol.uint16, crisol.int16, crisol.uint32, crisol.int32]
DTYPES += [crisol.uint64, crisol.int64, crisol.float16, crisol.float32, crisol.float64]


def pytest_collection_finish():
    """The collector need not go through what pytest has made so far each time that a test calls it."""
    gc.freeze()


@pytest.fixture(params=DTYPES, ids=lambda dt: dt.name)
def dtype(request):
    """Each element type that NumPy has."""
    return request.param
