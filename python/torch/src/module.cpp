// The extension torch_crisol._device: what the module torch_crisol needs beside PyTorch's own functions.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/pybind.h>

#include "call.h"
#include "crisol/device.h"
#include "device.h"
#include "event.h"
#include "fusion.h"
#include "generator.h"
#include "memory.h"

namespace crisol_torch {

namespace {

namespace py = pybind11;

py::dict properties(int device) {
  const crisol::DeviceInfo& info = device_at(device).info();
  py::dict facts;
  facts["name"] = info.name;
  facts["vendor"] = info.vendor;
  facts["platform"] = info.platform;
  facts["driver_version"] = info.driver_version;
  facts["total_memory"] = info.global_memory;
  facts["multi_processor_count"] = info.compute_units;
  facts["has_fp16"] = info.fp16;
  facts["has_fp64"] = info.fp64;
  return facts;
}

py::dict memory_stats(int device) {
  const crisol::MemoryStats stats = device_at(device).memory_stats();
  py::dict facts;
  facts["allocated"] = stats.in_use;
  facts["reserved"] = stats.in_use + stats.cached;
  facts["peak"] = stats.peak;
  facts["allocations"] = stats.allocations;
  return facts;
}

using Steps = std::vector<std::pair<std::string, std::vector<py::object>>>;

// A step of a chain is (function, operands). An operand is a number, or a tuple of the index of a value.
std::vector<ChainStep> steps_of(const Steps& given) {
  std::vector<ChainStep> steps;
  for (const auto& [function, operands] : given) {
    ChainStep step{function, {}};
    for (const py::object& one : operands) {
      if (py::isinstance<py::tuple>(one))
        step.operands.push_back({py::cast<std::int64_t>(py::cast<py::tuple>(one)[0])});
      else
        step.operands.push_back({-1, py::cast<double>(one), py::isinstance<py::int_>(one)});
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

Ending::Op op_of(const std::string& name) {
  TORCH_CHECK_VALUE(name == "product" || name == "linear" || name == "convolution", "crisol: no op \"", name,
                    "\" takes a chain as its last step");
  return name == "product" ? Ending::Op::product : name == "linear" ? Ending::Op::linear : Ending::Op::convolution;
}

// The package crisol gives and takes tensors by capsules with this name.
constexpr const char* capsule_name = "crisol.Tensor";

py::capsule share(const at::Tensor& x) {
  TORCH_CHECK(x.is_privateuseone() && x.layout() == at::kStrided, "crisol: a tensor on ", x.device(),
              " is not on this device");
  TORCH_CHECK(!x.requires_grad(), "crisol: a tensor that wants a gradient cannot be shared: x.detach() can");
  TORCH_CHECK_TYPE(dtype_of(x.scalar_type()), "crisol: the library has no dtype for ", x.dtype());
  TORCH_CHECK(!x.is_neg(), "crisol: a lazy negative cannot be shared: x.resolve_neg() can");
  return py::capsule(new crisol::Tensor(tensor_of(x)), capsule_name, [](PyObject* self) {
    delete static_cast<crisol::Tensor*>(PyCapsule_GetPointer(self, capsule_name));
  });
}

at::Tensor adopt(const py::capsule& capsule) {
  const auto* const x = static_cast<const crisol::Tensor*>(PyCapsule_GetPointer(capsule.ptr(), capsule_name));
  if (x == nullptr) throw py::error_already_set();
  return wrap(*x);
}

}  // namespace

PYBIND11_MODULE(_device, m) {
  register_device();
  register_profiler();
  register_rows();
  m.def("device_count", &device_count);
  m.def("current_device", &current_device);
  m.def("exchange_device", &exchange_device);
  m.def(
      "synchronize", [](int device) { guarded([&] { device_at(device).synchronize(); }); },
      py::call_guard<py::gil_scoped_release>());
  m.def("default_generator",
        [](int device) { return py::reinterpret_steal<py::object>(THPGenerator_Wrap(default_generator(device))); });
  m.def("properties", &properties);
  m.def("memory_stats", &memory_stats);
  m.def("reset_peak_memory", [](int device) { device_at(device).reset_peak_memory(); });
  m.def("empty_cache", [](int device) { device_at(device).release_cached_memory(); });
  m.def("set_memory_limit", [](int device, std::uint64_t bytes) { device_at(device).set_memory_limit(bytes); });
  m.def("share", &share);
  m.def("adopt", &adopt);
  m.def("set_whole_sequences", &set_whole_sequences);
  m.def("row_names", &row_names);
  m.def("clear_fallback_notes", &clear_fallback_notes);
  m.def("fallback_notes", [] {
    py::dict notes;
    for (const auto& [name, note] : fallback_notes()) notes[py::str(name)] = py::make_tuple(note.calls, note.reason);
    return notes;
  });
  py::class_<Chain>(m, "Chain")
      .def(py::init([](const Steps& steps, std::vector<std::int64_t> results, std::size_t inputs) {
             return Chain(steps_of(steps), std::move(results), inputs);
           }),
           py::arg("steps"), py::arg("results"), py::arg("inputs"))
      .def("__call__", &Chain::operator(), py::call_guard<py::gil_scoped_release>());
  m.def("chain_functions", &chain_functions);
  py::class_<Ending::Window>(m, "Window")
      .def(py::init<std::vector<std::int64_t>, std::vector<std::int64_t>, std::vector<std::int64_t>, std::int64_t>());
  py::class_<Ending>(m, "Ending")
      .def(py::init([](const std::string& op, std::size_t operands, const Steps& steps, std::size_t inputs,
                       Ending::Window window) {
             return Ending(op_of(op), operands, steps_of(steps), inputs, std::move(window));
           }),
           py::arg("op"), py::arg("operands"), py::arg("steps"), py::arg("inputs"),
           py::arg("window") = Ending::Window())
      .def("__call__", &Ending::operator(), py::call_guard<py::gil_scoped_release>());
  py::class_<CapturedGraph>(m, "CapturedGraph")
      .def("__call__", &CapturedGraph::operator(), py::call_guard<py::gil_scoped_release>())
      .def("__len__", &CapturedGraph::size);
  m.def("capture", [](const CapturedGraph::Function& function, const std::vector<at::Tensor>& inputs,
                      const std::vector<std::size_t>& constants) {
    std::vector<at::Tensor> results;
    CapturedGraph graph(function, inputs, constants, results);
    return std::make_pair(std::move(graph), std::move(results));
  });
  m.def("set_fallback", [](const std::string& name) {
    TORCH_CHECK_VALUE(name == "error" || name == "warn" || name == "silent",
                      "crisol: the fallback is \"error\", \"warn\" or \"silent\", not \"", name, "\"");
    set_fallback(name == "error" ? Fallback::error : name == "warn" ? Fallback::warn : Fallback::silent);
  });
}

}  // namespace crisol_torch
