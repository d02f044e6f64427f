"""ONNX Runtime with crisol's provider, for the tests: its devices, sessions, and which nodes a session gives to whom."""
import collections
import pathlib
import sys

import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "onnx/programs"))

PROVIDER = "CrisolExecutionProvider"
CPU = "CPUExecutionProvider"


def register(library):
    """Loads the provider's library, and returns its devices."""
    onnxruntime.register_execution_provider_library(PROVIDER, str(pathlib.Path(library).resolve()))
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == PROVIDER]


def session_of(model, devices, options=None):
    """A session with the provider first; with ONNX Runtime's CPU alone if there are no devices."""
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if not devices:
        return onnxruntime.InferenceSession(model, settings, providers=[CPU])
    settings.add_provider_for_devices(devices[:1], options or {})
    return onnxruntime.InferenceSession(model, settings, enable_fallback=0)  # Failures are raised.


def nodes_by_provider(session):
    """How many nodes each provider computes. Versions before 1.24 do not tell."""
    nodes = collections.Counter()
    if hasattr(session, "get_provider_graph_assignment_info"):
        for part in session.get_provider_graph_assignment_info():
            nodes[part.ep_name] += len(part.get_nodes())
    return nodes
