// Shapes, strides, dtypes and arguments of ops, compared with the host references: see op_program.h.
#include <exception>

#include "expect.h"
#include "op_program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  try {
    crisol::fuzz::run_op_program(bytes, count);
  } catch (const std::exception& finding) {
    crisol::fuzz::expect(false, finding.what());
  }
  return 0;
}
