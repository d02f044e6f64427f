"""What `import torch` calls (the entry point "torch.backends"). It is a module of its own because a program may import
torch_crisol first, and then torch_crisol is not complete when it imports torch."""


def autoload() -> None:
    """Nothing: the import of this module's package has told PyTorch of the device."""
