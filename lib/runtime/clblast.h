// CLBlast, a library of matrix products over OpenCL with parameters for dozens of devices. crisol does not link to it.
// It is loaded when a product first asks for it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "runtime/launch.h"

struct _cl_mem;

namespace crisol::runtime {

/// The reason why this process cannot use CLBlast, or nullptr. The first call loads the library.
const char* against_clblast();

/// A matrix as CLBlast takes it. Its elements are contiguous along rows, or along columns if it is transposed.
struct ClblastMatrix {
  std::int64_t leading;     ///< The distance between rows (columns, if transposed), which is at least their length.
  std::int64_t transposed;  ///< 0 or 1.
  std::int64_t batch;       ///< The distance between matrices.
};

/// C = A·B (+ C): `batch` products of m x k with k x n matrices. C is not transposed.
struct ClblastProduct {
  std::int64_t m, n, k, batch;
  std::int64_t adds;  ///< Whether the old C is added.
  std::array<ClblastMatrix, 3> matrices;
};

/// A product with the memory of A, B and C, and the position of their first elements.
struct ClblastCall {
  ClblastProduct product;
  std::array<_cl_mem*, 3> memory;
  std::array<std::uint64_t, 3> offsets;
};

/// Queues a product. A capture keeps the call, and each replay repeats it. The arguments are A, B, C and a
/// ClblastProduct.
void enqueue_clblast(DeviceState& device, std::span<const KernelArg> args);

/// Queues the kernels of the product. CLBlast compiles them at the first call in a process.
void run_clblast(DeviceState& device, const ClblastCall& call);

}  // namespace crisol::runtime
