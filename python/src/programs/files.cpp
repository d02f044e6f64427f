// Files of tensors: safetensors, NumPy's formats, checkpoints.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>

#include <fstream>
#include <string_view>

#include "arguments.h"
#include "option_casters.h"
#include "programs/topics.h"
#include "tensor/host.h"

namespace crisol::python {

std::string existing(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    const nb::gil_scoped_acquire lock;
    raise("MissingFileError", "there is no file " + path.string());
  }
  return path.string();
}

namespace {

using Path = std::filesystem::path;
using OptionalDevice = std::optional<Device>;

/// Waits until the tensors have their values. A signal can end this wait.
void wait_ahead(const NamedTensors& tensors) {
  for (const auto& [name, x] : tensors)
    if (x.defined()) python::wait_ahead(x.device());
}

/// Refuses a file of another format, recognised by its first bytes, and names the function that reads it.
void refuse_other_formats(const Path& path) {
  char first[6] = {};
  std::ifstream(path, std::ios::binary).read(first, sizeof first);
  const std::string_view bytes(first, sizeof first);
  const std::string name = path.filename().string(), stem = path.stem().string();
  std::string advice;
  if (bytes.substr(0, 2) == "PK" || (first[0] == '\x80' && first[1] >= 2 && first[1] <= 5 && first[2] != 0))
    advice = name + " looks like a file of torch.save: `python -m crisol.from_pytorch " + name + " " + stem +
             ".safetensors` converts it";
  else if (bytes == "\x93NUMPY")
    advice = name + " is a file of numpy.save: use load_npy()";
  else if (path.extension() == ".onnx")
    advice = name + " is an ONNX model: use crisol.onnx.load()";
  if (advice.empty()) return;
  const nb::gil_scoped_acquire lock;
  raise("FileError", "[load] " + advice);
}

NamedTensors load(const Path& path, const OptionalDevice& device) {
  const std::string file = existing(path);
  if (path.extension() == ".npz") return io::load_npz(file, or_default(device));
  refuse_other_formats(path);
  return io::load_safetensors(file, or_default(device));
}

GeneratorState state_of(const std::pair<std::uint64_t, std::uint64_t>& pair) { return {pair.first, pair.second}; }

/// The tensors of a nested state by name.
NamedTensors flattened(const nb::dict& state) {
  return nb::cast<NamedTensors>(nb::module_::import_("crisol._saved").attr("flattened")(state));
}

void bind_checkpoint(nb::module_& m) {
  using io::Checkpoint;
  nb::class_<Checkpoint>(m, "Checkpoint",
                         "The state of a training between two steps: state_dict() of its parts. With the same device "
                         "and data the training continues with the same bits.")
      .def(
          "__init__",
          [](Checkpoint* self, NamedTensors model, const nb::dict& optimizer, const nb::dict& schedule,
             NamedTensors carried, NamedTensors data,
             const std::optional<std::pair<std::uint64_t, std::uint64_t>>& generator, io::Metadata metadata) {
            const GeneratorState state = generator ? state_of(*generator) : default_generator().state();
            new (self)
                Checkpoint{std::move(model),    flattened(optimizer), flattened(schedule), std::move(carried), state,
                           std::move(metadata), std::move(data)};
          },
          nb::kw_only(), "model"_a = nb::dict(), "optimizer"_a = nb::dict(), "schedule"_a = nb::dict(),
          "carried"_a = nb::dict(), "data"_a = nb::dict(), "generator"_a = nb::none(), "metadata"_a = nb::dict())
      .def_ro("model", &Checkpoint::model, "State of the module.")
      .def_ro("optimizer", &Checkpoint::optimizer, "State of the optimiser.")
      .def_ro("schedule", &Checkpoint::schedule, "State of the schedule; empty without one.")
      .def_ro("carried", &Checkpoint::carried, "Tensors that pass from step to step.")
      .def_ro("data", &Checkpoint::data, "State of the DataLoader; empty without one.")
      .def_ro("metadata", &Checkpoint::metadata, "Texts of the program.")
      .def_prop_ro(
          "generator",
          [](const Checkpoint& self) { return std::make_pair(self.generator.seed, self.generator.counter); },
          "State of the generator, as (seed, counter). By default that of the default generator.");
  m.def(
      "save_checkpoint",
      [](const Path& path, const Checkpoint& checkpoint) {
        wait_ahead(checkpoint.model);
        unlocked([&] { io::save_checkpoint(path.string(), checkpoint); });
      },
      "path"_a, "checkpoint"_a, "Writes a checkpoint to a safetensors file, completely or not at all.");
  m.def(
      "load_checkpoint",
      [](const Path& path, const OptionalDevice& device) {
        return io::load_checkpoint(existing(path), or_default(device));
      },
      "path"_a, "device"_a = nb::none(), Unlocked(), "Reads a file from save_checkpoint().");
}

}  // namespace

void bind_files(nb::module_& m) {
  m.def(
      "save",
      [](const NamedTensors& tensors, const Path& path, const io::Metadata& metadata) {
        wait_ahead(tensors);
        unlocked([&] { io::save_safetensors(path.string(), tensors, metadata); });
      },
      "tensors"_a, "path"_a, "metadata"_a = nb::dict(),
      "Writes tensors by name, such as a state_dict(), to a safetensors file, completely or not at all. metadata are "
      "texts by name.");
  m.def("load", &load, "path"_a, "device"_a = nb::none(), Unlocked(),
        "Reads all tensors of a safetensors file, or of a .npz file of NumPy, as a dict in the file's order.");
  m.def(
      "load_metadata", [](const Path& path) { return io::parse_safetensors(existing(path)).metadata; }, "path"_a,
      "The texts in a safetensors file, by name.");
  m.def(
      "load_npy",
      [](const Path& path, const OptionalDevice& device) { return io::load_npy(existing(path), or_default(device)); },
      "path"_a, "device"_a = nb::none(), Unlocked(), "Reads a file of numpy.save.");
  bind_checkpoint(m);
}

}  // namespace crisol::python
