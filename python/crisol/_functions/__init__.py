"""Functions and methods with PyTorch's names and meaning that are written in Python."""

from ._arrange import *
from ._create import *
from ._files import *
from ._index import *
from ._inplace import *
from ._math import *
from ._matrix import *
from ._members import *
from ._more import *
from ._order import *
from ._random import *
from ._reduce import *
from ._settings import *
from ._statistics import *
from ._types import *
from ._waves import *
