// CLBlast is loaded at its first use on a GPU. crisol does not link to it and does not need it.
#pragma once

#include <cstdint>

#include "runtime/launch.h"
#include "runtime/memory/memory_pool.h"

namespace crisol::runtime {

/// Whether CLBlast is installed and crisol was built with it. The first call looks for the library.
bool has_clblast();

struct ClblastMatrix {
  BufferView first;
  std::int64_t leading;  ///< The distance between rows, or between columns of a transposed matrix.
  bool transposed;
  std::int64_t batch;
};

/// C = A·B + beta·C for a batch of row-major matrices m x k and k x n. C is never transposed. Throws
/// device_failure, naming op.
void clblast_gemm(const char* op, DeviceState& device, std::int64_t m, std::int64_t n, std::int64_t k,
                  std::int64_t batch, const ClblastMatrix& a, const ClblastMatrix& b, const ClblastMatrix& c,
                  float beta);

}  // namespace crisol::runtime
