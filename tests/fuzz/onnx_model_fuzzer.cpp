// Arbitrary bytes as an ONNX model.
#include "fuzz/onnx_model_rules.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const crisol::fuzz::MemoryFile file(bytes, count);
  crisol::fuzz::check_onnx_model(file.path(), count);
  return 0;
}
