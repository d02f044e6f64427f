"""A pytest plugin that lets the Array API suite run on a library without complex dtypes and float64: pytest -p
array_api_plugin.

When it is imported, the suite takes the maximum of the library's complex dtypes, which an empty list does not have, and
names float64 as the parts of complex128. The plugin imports that module of the suite with these two places changed.
"""

import importlib.util
import sys

NAME = "array_api_tests.dtype_helpers"
CHANGES = {
    "for dt in complex_dtypes], key=lambda x: x[1]": "for dt in complex_dtypes], key=lambda x: x[1], default=(xp.float32, 0)",
    '"complex128": xp.float64': '"complex128": getattr(xp, "float64", None)',
}


def import_changed():
    spec = importlib.util.find_spec(NAME)
    with open(spec.origin) as file:
        source = file.read()
    for text, changed in CHANGES.items():
        if source.count(text) != 1:
            raise RuntimeError(f"{spec.origin} has not the text that the plugin expects: {text}")
        source = source.replace(text, changed)
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    exec(compile(source, spec.origin, "exec"), module.__dict__)
    sys.modules["array_api_tests"].dtype_helpers = module


import_changed()
