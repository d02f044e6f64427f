"""The provider of crisol for ONNX Runtime."""
import pathlib

__all__ = ["get_ep_name", "get_ep_names", "get_library_path"]


def get_library_path() -> str:
    """The path that ``onnxruntime.register_execution_provider_library`` takes.

    Imports crisol, whose library and OpenCL loader the provider uses. Raises ImportError if there is no OpenCL loader.
    """
    import crisol  # noqa: F401

    return str(pathlib.Path(__file__).parent / "libcrisol_ort.so")


def get_ep_names() -> list[str]:
    """The names of the providers in the library: one."""
    return ["CrisolExecutionProvider"]


def get_ep_name() -> str:
    """The name of the provider."""
    return get_ep_names()[0]
