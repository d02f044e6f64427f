// `crisol onnx bench`
#include <charconv>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/format.h"
#include "cli/onnx/work.h"
#include "crisol/dtype_table.h"
#include "crisol/grad_mode.h"
#include "crisol/io/safetensors.h"
#include "crisol/random.h"

namespace crisol::cli::onnx_command {

namespace {

using bench::UsageError;

/// The name and the sizes of "NAME=1,3,224,224"; "NAME=" is a shape without axes. Throws UsageError for other texts.
std::pair<std::string, Shape> parse_shape(const std::string& text) {
  const std::size_t sign = text.rfind('=');
  Shape shape;
  const char* at = text.data() + sign + 1;
  const char* const end = text.data() + text.size();
  bool good = sign != std::string::npos && sign > 0;
  while (good && at < end) {
    std::int64_t size = -1;
    const auto [rest, error] = std::from_chars(at, end, size);
    good = error == std::errc() && size >= 0 && shape.rank() < Shape::max_rank && (rest == end || *rest == ',');
    if (good) shape.push_back(size);
    at = rest + (rest < end);
    good = good && (rest == end || at < end);
  }
  if (!good) throw UsageError("'" + text + "' is not of the form NAME=1,3,224,224");
  return {text.substr(0, sign), shape};
}

std::map<std::string, Shape> parse_shapes(const std::vector<std::string>& texts, const onnx::Model& model) {
  std::map<std::string, Shape> shapes;
  for (const std::string& text : texts) {
    const auto [name, shape] = parse_shape(text);
    std::string known;
    for (const onnx::ValueInfo& input : model.inputs()) known += ' ' + in_quotes(input.name);
    if (known.find(' ' + in_quotes(name)) == std::string::npos)
      throw UsageError("--shape " + text + ": the model has the inputs" + known);
    shapes[name] = shape;
  }
  return shapes;
}

/// The shape that the file gives. A first size that is open is 1; it is mostly the batch. Other open sizes must have a
/// name that is known from an input with a given shape.
Shape shape_by_file(const onnx::ValueInfo& input, const std::map<std::string, std::int64_t>& known) {
  const auto refuse = [&](const std::string& what) -> Shape {
    throw UsageError("input " + in_quotes(input.name) + " has " + what + "; give it with --shape " + input.name +
                     "=1,3,224,224");
  };
  if (!input.has_shape) return refuse("any number of axes");
  Shape shape;
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    const onnx::Dimension& d = input.shape[i];
    const auto at = known.find(d.name);
    if (d.size < 0 && at == known.end() && i > 0)
      return refuse(concat("an open size ", in_quotes(d.name), " on axis ", i));
    shape.push_back(d.size >= 0 ? d.size : at != known.end() ? at->second : 1);
  }
  return shape;
}

Tensor values_for(const onnx::ValueInfo& input, const Shape& shape) {
  for (const DType dtype : all_dtypes)
    if (input.type == name_of(dtype)) return is_floating(dtype) ? randn(shape).to(dtype) : ones(shape, dtype);
  throw UsageError("input " + in_quotes(input.name) + " has elements of " + input.type + "; give it with --inputs");
}

struct Measured {
  NamedTensors inputs;
  bench::Timing timing;
  std::uint64_t peak_bytes = 0;
  std::vector<onnx::OpTime> ops;
};

void print_json(const BenchOptions& options, const Measured& measured) {
  const bench::Timing& timing = measured.timing;
  nlohmann::ordered_json inputs = nlohmann::ordered_json::object();
  for (const auto& [name, tensor] : measured.inputs)
    inputs[name] = std::vector<std::int64_t>(tensor.shape().begin(), tensor.shape().end());
  const Device device;
  nlohmann::ordered_json json{{"model", options.model},
                              {"inputs", inputs},
                              {"median_ms", timing.median_ms},
                              {"min_ms", timing.min_ms},
                              {"quartiles_ms", {timing.quartile_ms[0], timing.quartile_ms[1]}},
                              {"spread", timing.spread()},
                              {"host_ms", timing.host_ms},
                              {"runs", timing.samples},
                              {"peak_bytes", measured.peak_bytes},
                              {"device", device.name()},
                              {"platform", device.info().platform}};
  if (options.profile) json["profile"] = nlohmann::ordered_json::parse(to_json(measured.ops));
  std::cout << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void print_text(const BenchOptions& options, const Measured& measured) {
  const bench::Timing& timing = measured.timing;
  const Device device;
  std::cout << device.name() << " | " << device.info().platform << '\n';
  for (const auto& [name, tensor] : measured.inputs) std::cout << "input   " << describe(name, tensor) << '\n';
  std::cout << format("median  %s, min %s, spread %.1f %%, queued in %s; %d runs\n",
                      time_text(timing.median_ms).c_str(), time_text(timing.min_ms).c_str(), 100 * timing.spread(),
                      time_text(timing.host_ms).c_str(), timing.samples);
  if (options.profile) std::cout << measured.ops;
}

}  // namespace

NamedTensors inputs_of(const onnx::Model& model, const InputOptions& options) {
  const std::map<std::string, Shape> shapes = parse_shapes(options.shapes, model);
  if (!options.file.empty()) return io::load_safetensors(options.file);
  manual_seed(0);
  std::map<std::string, std::int64_t> known;
  for (const onnx::ValueInfo& input : model.inputs())
    if (const auto at = shapes.find(input.name); at != shapes.end())
      for (int i = 0; i < at->second.rank() && i < static_cast<int>(input.shape.size()); ++i)
        if (const std::string& name = input.shape[static_cast<std::size_t>(i)].name; !name.empty())
          known.emplace(name, at->second[i]);
  NamedTensors inputs;
  for (const onnx::ValueInfo& input : model.inputs()) {
    const auto at = shapes.find(input.name);
    inputs.emplace_back(input.name, values_for(input, at != shapes.end() ? at->second : shape_by_file(input, known)));
  }
  return inputs;
}

std::string fault_of_shape(const std::string& text) {
  try {
    parse_shape(text);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

int bench_model(const BenchOptions& options) {
  const onnx::Model model = onnx::load(options.model);
  const NoGrad no_grad;
  Measured measured;
  measured.inputs = inputs_of(model, options.inputs);
  const Device device;
  device.reset_peak_memory();
  bench::Work work;
  work.run = [&] { model(measured.inputs); };
  measured.timing = bench::measure(work, true, options.effort);
  measured.peak_bytes = device.memory_stats().peak;
  if (options.profile) measured.ops = model.profile(measured.inputs);
  if (options.json)
    print_json(options, measured);
  else
    print_text(options, measured);
  return 0;
}

}  // namespace crisol::cli::onnx_command
