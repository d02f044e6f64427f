// Models in ONNX files.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>

#include "arguments.h"
#include "callback.h"
#include "nn/module.h"
#include "programs/topics.h"

namespace crisol::python {

namespace {

using Path = std::filesystem::path;
using OptionalDevice = std::optional<Device>;
using Names = std::vector<std::string>;

nb::object json_of(const std::string& text) { return nb::module_::import_("json").attr("loads")(text); }

/// A tensor. An array is converted to a tensor.
Tensor tensor_of(nb::handle value) {
  if (nb::isinstance<Tensor>(value)) return nb::cast<Tensor>(value);
  return nb::cast<Tensor>(nb::module_::import_("crisol").attr("asarray")(value));
}

/// Inputs by name. A Python sequence becomes several tensors of the same name.
NamedTensors inputs_of(const nb::dict& dict) {
  NamedTensors inputs;
  for (const auto& [key, value] : dict) {
    const std::string name = nb::cast<std::string>(key);
    if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
      for (const nb::handle element : value) inputs.emplace_back(name, tensor_of(element));
    } else {
      inputs.emplace_back(name, tensor_of(value));
    }
  }
  return inputs;
}

/// Turns numbers into the texts that they stand for: an array of str.
nb::object texts_at(const std::vector<std::string>& texts, const Tensor& positions) {
  return nb::module_::import_("numpy")
      .attr("asarray")(nb::cast(texts))
      .attr("take")(nb::cast(positions).attr("numpy")());
}

/// One dict for each row. The keys are whole numbers if the type of the output says so.
nb::list maps_of(const std::vector<std::string>& keys, bool are_whole, const Tensor& rows) {
  nb::list names, maps;
  for (const std::string& key : keys) names.append(are_whole ? nb::int_(nb::str(key.c_str())) : nb::cast(key));
  const nb::module_ builtins = nb::module_::import_("builtins");
  for (const nb::handle row : nb::cast(rows).attr("tolist")())
    maps.append(builtins.attr("dict")(builtins.attr("zip")(names, row)));
  return maps;
}

/// The value of an output that is not a list of tensors: a tensor, texts, or maps.
nb::object value_of(const onnx::Model& model, const onnx::ValueInfo& info, const Tensor& tensor) {
  const std::vector<std::string> texts = model.texts(info.name);
  if (texts.empty()) return nb::cast(tensor);
  if (tensor.dtype() == DType::i64) return texts_at(texts, tensor);
  return maps_of(texts, info.type.find("map(i64") != std::string::npos, tensor);
}

/// Outputs by name: a tensor, a list for a sequence, or None for an optional output without a value. An output of texts
/// is an array of str, and a sequence of maps is a list of dicts.
nb::dict outputs_of(const onnx::Model& model, const onnx::Outputs& outputs) {
  nb::dict dict;
  for (const onnx::ValueInfo& info : model.outputs()) {
    const std::vector<Tensor> tensors = outputs.sequence(info.name);
    if (info.type.compare(0, 8, "sequence") == 0 && model.texts(info.name).empty())
      dict[nb::cast(info.name)] = tensors;
    else
      dict[nb::cast(info.name)] = tensors.empty() ? nb::none() : value_of(model, info, tensors[0]);
  }
  return dict;
}

/// One entry for each axis: its size or name, or None if it has neither.
nb::object shape_of_value(const onnx::ValueInfo& info) {
  if (!info.has_shape) return nb::none();
  nb::list shape;
  for (const onnx::Dimension& size : info.shape) {
    if (size.size >= 0)
      shape.append(size.size);
    else
      shape.append(size.name.empty() ? nb::none() : nb::cast(size.name));
  }
  return nb::tuple(shape);
}

// Runs the model. A tensor or a dict is one argument. Several tensors are the inputs in the order of the file.
nb::object run(onnx::Model& model, const nb::args& args) {
  if (args.size() == 1 && (nb::isinstance<Tensor>(args[0]) || is_numpy_array(args[0].ptr()))) {
    const Tensor x = tensor_of(args[0]);
    const Tensor y = unlocked([&] { return model.forward(x); });
    return value_of(model, model.outputs().front(), y);
  }
  if (args.size() != 1 || !nb::isinstance<nb::dict>(args[0]))
    throw nb::type_error("an ONNX model is called with a dict of tensors or arrays by name, or with one of them");
  const NamedTensors inputs = inputs_of(nb::cast<nb::dict>(args[0]));
  const onnx::Outputs outputs = unlocked([&] { return model(inputs); });
  return outputs_of(model, outputs);
}

void bind_model(nb::module_& m) {
  nb::class_<onnx::ValueInfo>(m, "ValueInfo", "An input or output of a model.")
      .def_ro("name", &onnx::ValueInfo::name, "By which a program gives or takes it.")
      .def_ro("type", &onnx::ValueInfo::type, "Its elements: \"f32\", \"i64\", …")
      .def_prop_ro("shape", &shape_of_value,
                   "Its sizes: an int, a name such as \"batch\", or None for each axis; None if all are open.")
      .def("__repr__", [](const onnx::ValueInfo& self) {
        return "ValueInfo(" + self.name + ", " + self.type + ", " +
               nb::cast<std::string>(nb::str(shape_of_value(self))) + ")";
      });
  nb::class_<onnx::Model, nn::Module>(m, "Model", nb::dynamic_attr(), nb::is_weak_referenceable(),
                                      nb::type_slots(module_slots),
                                      "A model from an ONNX file, as a module. Its parameters are the floating-point "
                                      "initializers of the file.")
      .def("forward", &run,
           nb::sig("def forward(self, inputs: dict[str, Tensor] | Tensor) -> dict[str, Tensor] | Tensor"),
           "The outputs by name for inputs by name. For a model with one input also model(x), which gives the first "
           "output. An output of texts is a NumPy array of str, and a sequence of maps is a list of dicts.")
      .def_prop_ro("inputs", &onnx::Model::inputs, "What the model takes, in the order of the file.")
      .def_prop_ro("outputs", &onnx::Model::outputs, "What the model gives, in the order of the file.")
      .def(
          "optimized",
          [](const onnx::Model& self, const nb::dict& inputs) {
            return unlocked([&, named = inputs_of(inputs)] { return self.optimized(named); });
          },
          "inputs"_a, "What runs for inputs of these shapes without gradients, as text. Runs the model once.")
      .def(
          "prepare",
          [](const onnx::Model& self, const nb::dict& inputs) {
            return unlocked([&, named = inputs_of(inputs)] { return self.prepare(named); });
          },
          "inputs"_a,
          "Compiles the kernels that a run without gradients needs for inputs of these shapes. Computes only if there "
          "are kernels that have not run in this process, and returns how many there are.")
      .def(
          "profile",
          [](const onnx::Model& self, const nb::dict& inputs) {
            const auto rows = unlocked([&, named = inputs_of(inputs)] { return self.profile(named); });
            return json_of(onnx::to_json(rows));
          },
          "inputs"_a, "The time of each op in a run, as a list of dicts.");
}

void save(const Path& path, nb::callable function, const std::vector<Tensor>& examples, const NamedTensors& state,
          const Names& inputs, const Names& outputs, const std::string& batch, int batch_axis) {
  const auto traced = [&](const std::vector<Tensor>& given) {
    return with_python([&] { return nb::cast<std::vector<Tensor>>(function(*nb::tuple(nb::cast(given)))); });
  };
  unlocked([&] { onnx::save(path.string(), traced, examples, state, {inputs, outputs, batch, batch_axis}); });
}

}  // namespace

void bind_onnx(nb::module_& extension) {
  nb::module_ m = extension.def_submodule("_onnx", "Models in ONNX files.");
  bind_model(m);
  m.def(
      "load",
      [](const Path& path, const OptionalDevice& device) -> std::shared_ptr<onnx::Model> {
        return std::make_shared<onnx::Model>(onnx::load(existing(path), or_default(device)));
      },
      "path"_a, "device"_a = nb::none(), Unlocked(), "Loads a model to a device.");
  m.def("_save", &save, "path"_a, "function"_a, "examples"_a, "state"_a, "inputs"_a, "outputs"_a, "batch"_a,
        "batch_axis"_a);
  m.def(
      "info", [](const Path& path) { return json_of(onnx::to_json(onnx::read_info(existing(path)))); }, "path"_a,
      "What a file says about itself, as a dict. Reads no weights.");
  m.def(
      "check",
      [](const Path& folder, double rtol, double atol, const OptionalDevice& device) {
        const std::string path = existing(folder);
        const auto sets = unlocked([&] { return onnx::check(path, {rtol, atol}, or_default(device)); });
        return json_of(onnx::to_json(sets));
      },
      "folder"_a, "rtol"_a = 1e-3, "atol"_a = 1e-7, "device"_a = nb::none(),
      "Runs the model of a folder with the test data there, as ONNX's own tests store them. A dict for each set.");
  m.def(
      "supported_ops", [] { return json_of(onnx::to_json(onnx::supported_ops())); },
      "The ops that load() accepts, with the versions of each.");
}

}  // namespace crisol::python
