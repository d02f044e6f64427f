// CLBlast, loaded when a GPU first asks for it: crisol neither links nor needs it.
#pragma once

#include <cstdint>

#include "runtime/launch.h"
#include "runtime/memory_pool.h"

namespace crisol::runtime {

/// Why CLBlast cannot be used, or nullptr. The first call looks for the library.
const char* clblast_missing();

struct ClblastMatrix {
  BufferView first;
  std::int64_t leading;  ///< Distance between rows (between columns where transposed).
  bool transposed;
  std::int64_t batch;
};

/// C = A·B + beta·C, row by row, for a batch of m x k with k x n matrices; C is never transposed. Throws
/// device_failure.
void clblast_gemm(DeviceState& device, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                  const ClblastMatrix& a, const ClblastMatrix& b, const ClblastMatrix& c, float beta);

}  // namespace crisol::runtime
