"""What all tests of the Python package share."""

import crisol
import pytest

DTYPES = [crisol.bool, crisol.uint8, crisol.int32, crisol.int64, crisol.float16, crisol.float32]


@pytest.fixture(params=DTYPES, ids=lambda dt: dt.name)
def dtype(request):
    """Each element type."""
    return request.param
