// Arbitrary bytes as an ONNX model. Loading fails with an error about the file, or gives a model. Nothing runs.
#include "crisol/onnx.h"
#include "expect.h"
#include "memory_file.h"

using namespace crisol;
using namespace crisol::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const MemoryFile file(bytes, count);
  try {
    const onnx::Model model = onnx::load(file.path());
    std::int64_t elements = 0;
    for (const auto& [name, parameter] : model.named_parameters()) elements += parameter.numel();
    expect(elements <= static_cast<std::int64_t>(count), "parameters lie in the file");
  } catch (const Error& error) {
    const bool is_expected = error.code() == ErrorCode::io || error.code() == ErrorCode::invalid_argument;
    if (!is_expected) std::fprintf(stderr, "%s: %s\n", name_of(error.code()), error.what());
    expect(is_expected, "a refusal has the code of its kind");
    expect(error.what()[0] == '[', "a refusal begins with the op's name");
  }
  return 0;
}
