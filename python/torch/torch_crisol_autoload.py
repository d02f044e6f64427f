"""What `import torch` calls (the entry point "torch.backends"). This module lies outside the package torch_crisol. So
PyTorch can be imported where the package cannot: an error of an entry point ends the import of PyTorch."""

import warnings


def autoload() -> None:
    """Imports torch_crisol, which tells PyTorch of the device. Warns if this is not possible."""
    try:
        import torch_crisol  # noqa: F401
    except ImportError as error:
        warnings.warn(f"PyTorch has no device 'crisol': {error}", stacklevel=2)
