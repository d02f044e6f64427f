// The rules for a model from a stranger: it is refused with an error, or it is loaded. A small model then runs on small
// inputs, in a dry run: the sizes of all results, and no kernels.
#pragma once

#include <cstdint>
#include <string>

#include "crisol/onnx.h"
#include "crisol/tensor.h"
#include "fuzz/expect.h"
#include "onnx/ops/control/loop_limit.h"
#include "runtime/dry_run.h"

namespace crisol::fuzz {

/// Adds a tensor for an input, with 2 for each size that is open. Returns false if it is too large or if the library
/// lacks its type.
inline bool add_input(NamedTensors& inputs, const onnx::ValueInfo& info) {
  Shape shape;
  std::int64_t elements = 1;
  if (info.has_shape && info.shape.size() > 8) return false;
  for (const onnx::Dimension& dimension : info.shape) {
    const std::int64_t size = dimension.size < 0 ? 2 : dimension.size;
    if (size > 64) return false;
    shape.push_back(size);
    elements *= size;
  }
  if (elements > 4096) return false;
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean})
    if (info.type == name_of(dtype)) {
      Tensor x = full(shape, 1, dtype);
      if (is_floating(dtype)) x.requires_grad_();  // With this the nodes run, and no program is made.
      inputs.emplace_back(info.name, x);
      return true;
    }
  return false;
}

inline void run_dry(const onnx::Model& model) {
  NamedTensors inputs;
  for (const onnx::ValueInfo& info : model.inputs())
    if (!add_input(inputs, info)) return;
  const runtime::DryRun dry_run;
  const onnx::LoopLimit limit(1000);  // A run with the library's own limit would take minutes.
  model(inputs);
}

/// Returns whether the model in a file of `count` bytes was loaded. Ends the process if a rule is broken.
inline bool check_onnx_model(const std::string& path, std::size_t count) {
  bool is_loaded = false;
  try {
    const onnx::Model model = onnx::load(path);
    std::int64_t elements = 0;
    for (const auto& [name, parameter] : model.named_parameters()) elements += parameter.numel();
    expect(elements <= static_cast<std::int64_t>(count), "parameters lie in the file");
    is_loaded = true;
    run_dry(model);
  } catch (const Error& error) {
    const bool is_expected = is_loaded || error.code() == ErrorCode::io || error.code() == ErrorCode::invalid_argument;
    if (!is_expected) std::fprintf(stderr, "%s: %s\n", name_of(error.code()), error.what());
    expect(is_expected, "a refusal has the code of its kind");
    expect(error.what()[0] == '[', "a refusal begins with the op's name");
  }
  return is_loaded;
}

}  // namespace crisol::fuzz
