"""A pytest plugin that lets the Array API suite run on a library without complex dtypes: pytest -p array_api_plugin.

When it is imported, the suite takes the maximum of the library's complex dtypes, which an empty list does not have. The
plugin imports that module of the suite with a default for the maximum. The suite also reshapes to any number of axes, and
tensordot gives the axes of both arrays. The plugin leaves out shapes with more axes than the library's capabilities allow.
"""

import importlib.util
import sys

NAME = "array_api_tests.dtype_helpers"
TEXT = "for dt in complex_dtypes], key=lambda x: x[1]"


def import_changed():
    spec = importlib.util.find_spec(NAME)
    with open(spec.origin) as file:
        source = file.read()
    if source.count(TEXT) != 1:
        raise RuntimeError(f"{spec.origin} has not the text that the plugin expects: {TEXT}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    code = source.replace(TEXT, TEXT + ", default=(xp.float32, 0)")
    exec(compile(code, spec.origin, "exec"), module.__dict__)
    sys.modules["array_api_tests"].dtype_helpers = module


def limit_axes():
    from array_api_tests import hypothesis_helpers, xp
    from hypothesis.strategies import integers

    limit = xp.__array_namespace_info__().capabilities()["max dimensions"]
    any_shapes = hypothesis_helpers.reshape_shapes
    hypothesis_helpers.reshape_shapes = lambda shape: any_shapes(shape, integers(1, limit))
    any_pairs = hypothesis_helpers.two_mutually_broadcastable_shapes
    hypothesis_helpers.two_mutually_broadcastable_shapes = any_pairs.filter(lambda pair: sum(map(len, pair)) <= limit)


import_changed()
limit_axes()
