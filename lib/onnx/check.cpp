// Checks models with test data in the form of ONNX's own tests.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>

#include "base/system.h"
#include "base/text.h"
#include "crisol/grad_mode.h"
#include "crisol/onnx.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/small_types.h"
#include "onnx/reader/model_file.h"

namespace crisol::onnx {

namespace {

namespace fs = std::filesystem;

/// The entries of a folder, sorted by name. Throws io if the folder cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(entry->path());
  if (error) fail(ErrorCode::io, "onnx", system::text_of(folder), ": ", error.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// The path of a folder's model: model.onnx, or the only *.onnx.
std::string model_in(const fs::path& folder, const std::vector<fs::path>& entries) {
  std::vector<fs::path> models;
  for (const fs::path& entry : entries) {
    if (entry.filename() == "model.onnx") return system::text_of(entry);
    if (entry.extension() == ".onnx") models.push_back(entry);
  }
  if (models.size() != 1)
    fail(ErrorCode::io, "onnx", system::text_of(folder), ": the folder has ", models.size(),
         " files *.onnx; it must have one, or model.onnx");
  return system::text_of(models.front());
}

/// The tensors KIND_0.pb, KIND_1.pb, …, each with the name of the value to which it belongs.
NamedTensors tensors_in(const fs::path& set, const std::string& kind, const std::vector<ValueInfo>& values,
                        Device device) {
  NamedTensors tensors;
  for (std::size_t i = 0;; ++i) {
    const fs::path path = set / concat(kind, '_', i, ".pb");
    if (std::error_code error; !fs::exists(path, error)) return tensors;
    const auto loaded = load_tensor(system::text_of(path), device);
    const std::string& name = loaded.first;
    const bool is_known = std::any_of(values.begin(), values.end(), [&](const auto& v) { return v.name == name; });
    require(is_known || i < values.size(), "onnx", system::text_of(path), ": the model has ", values.size(), ' ', kind,
            values.size() == 1 ? "" : "s");
    tensors.emplace_back(is_known ? name : values[i].name, loaded.second);
  }
}

/// Compares the elements of two tensors of one shape as `T`. Returns a text about the difference, or an empty text.
template <class T, class Fits>
std::string compare(const Tensor& found, const Tensor& expected, DType as, const Fits& fits) {
  const std::vector<T> a = found.to(as).to_vector<T>(), b = expected.to(as).to_vector<T>();
  std::size_t differ = 0, first = 0;
  for (std::size_t i = a.size(); i-- > 0;)
    if (!fits(a[i], b[i])) ++differ, first = i;
  if (differ == 0) return "";
  constexpr int digits = 9;  // With nine digits, different floats have different texts.
  return concat(differ, " of ", a.size(), " elements differ, the first at ", first, ": ", std::setprecision(digits),
                a[first], ", ", b[first], " expected");
}

std::string difference(const Tensor& found, const Tensor& expected, const CheckOptions& options, double& largest) {
  if (found.dtype() != expected.dtype())
    return concat("elements of ", found.dtype(), ", ", expected.dtype(), " expected");
  if (found.shape() != expected.shape()) return concat("shape ", found.shape(), ", ", expected.shape(), " expected");
  if (!is_floating(found.dtype()))
    return compare<std::int64_t>(found, expected, DType::i64, [](std::int64_t a, std::int64_t b) { return a == b; });
  return compare<float>(found, expected, DType::f32, [&](float a, float b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return true;
    const double distance = std::abs(static_cast<double>(a) - static_cast<double>(b));
    if (!std::isnan(distance)) largest = std::max(largest, distance);
    return std::isfinite(b) && distance <= options.atol + options.rtol * std::abs(static_cast<double>(b));
  });
}

CheckedSet check_set(const Model& model, const fs::path& folder, const CheckOptions& options, Device device) {
  CheckedSet set;
  set.folder = system::text_of(folder);
  try {
    const NamedTensors inputs = tensors_in(folder, "input", model.inputs(), device);
    const NamedTensors expected = tensors_in(folder, "output", model.outputs(), device);
    if (expected.empty()) fail(ErrorCode::io, "onnx", set.folder, ": there is no output_0.pb");
    const Outputs outputs = model(inputs);
    for (const auto& [name, tensor] : expected)
      if (const std::string text = difference(outputs[name], tensor, options, set.largest_difference); !text.empty())
        set.reason += concat(set.reason.empty() ? "" : "; ", "output ", file::in_quotes(name), ": ", text);
    if (!set.reason.empty()) set.state = CheckState::wrong;
  } catch (const Error& error) {
    set.state = CheckState::refused;
    set.reason = error.what();
  }
  return set;
}

}  // namespace

std::pair<std::string, Tensor> load_tensor(const std::string& path, Device device) {
  file::TensorFile file(path);
  const auto [dtype, shape] = layout_of(file.tensor());
  const file::Elements elements = file.elements_of(file.tensor());
  const SmallType* const small = small_type(file.tensor().type);
  const std::string whole = small == nullptr ? std::string() : unpacked(elements.bytes(), shape.numel(), *small);
  const char* const bytes = small == nullptr ? elements.bytes().data() : whole.data();
  return {std::string(file.tensor().name), from_bytes(bytes, shape, dtype, device)};
}

const char* name_of(CheckState state) noexcept {
  switch (state) {
    case CheckState::passed: return "passed";
    case CheckState::wrong: return "wrong";
    case CheckState::refused: return "refused";
  }
  return "";
}

std::vector<CheckedSet> check(const std::string& folder, const CheckOptions& options, Device device) {
  require(options.rtol >= 0 && options.atol >= 0, "onnx", "rtol ", options.rtol, " and atol ", options.atol,
          " must not be negative");
  const fs::path path = system::path_of(folder);
  const std::vector<fs::path> entries = entries_of(path);
  const Model model = load(model_in(path, entries), device);
  const NoGrad no_grad;
  std::vector<CheckedSet> sets;
  for (const fs::path& entry : entries)
    if (system::text_of(entry.filename()).starts_with("test_data_set_"))
      sets.push_back(check_set(model, entry, options, device));
  if (sets.empty()) fail(ErrorCode::io, "onnx", folder, ": there is no folder test_data_set_*");
  return sets;
}

}  // namespace crisol::onnx
