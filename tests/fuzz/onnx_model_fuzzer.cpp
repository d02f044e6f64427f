// Arbitrary bytes as an ONNX model. Loading fails with an error about the file, or gives a model. Small models without
// loops then run on small inputs, in a dry run: the sizes of all results, and no kernels.
#include <algorithm>

#include "crisol/onnx.h"
#include "crisol/tensor.h"
#include "expect.h"
#include "memory_file.h"
#include "runtime/dry_run.h"

using namespace crisol;
using namespace crisol::fuzz;

namespace {

/// A tensor for an input, with 2 for each size that is open. Returns nothing if it is too large or if the library lacks
/// its type.
bool add_input(NamedTensors& inputs, const onnx::ValueInfo& info) {
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

void run(const onnx::Model& model) {
  NamedTensors inputs;
  for (const onnx::ValueInfo& info : model.inputs())
    if (!add_input(inputs, info)) return;
  const runtime::DryRun dry_run;
  model(inputs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const MemoryFile file(bytes, count);
  bool is_loaded = false;
  try {
    const onnx::Model model = onnx::load(file.path());
    std::int64_t elements = 0;
    for (const auto& [name, parameter] : model.named_parameters()) elements += parameter.numel();
    expect(elements <= static_cast<std::int64_t>(count), "parameters lie in the file");
    is_loaded = true;
    const std::vector<onnx::OpCount> ops = onnx::read_info(file.path()).ops;
    if (std::none_of(ops.begin(), ops.end(), [](const onnx::OpCount& op) { return op.name == "Loop"; })) run(model);
  } catch (const Error& error) {
    const bool is_expected = is_loaded || error.code() == ErrorCode::io || error.code() == ErrorCode::invalid_argument;
    if (!is_expected) std::fprintf(stderr, "%s: %s\n", name_of(error.code()), error.what());
    expect(is_expected, "a refusal has the code of its kind");
    expect(error.what()[0] == '[', "a refusal begins with the op's name");
  }
  return 0;
}
