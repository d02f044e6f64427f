#include "runtime/clblast.h"

#include "base/system.h"
#include "base/text.h"
#include "runtime/device/device_state.h"

#ifdef CRISOL_WITH_CLBLAST

#include <clblast_c.h>

namespace crisol::runtime {

namespace {

void* find_clblast_function(const char* name) {
  return system::library_function({"libclblast.so.1", "libclblast.so", "libclblast.dylib", "clblast.dll"}, name);
}

using GemmFunction = decltype(&CLBlastSgemm);
using BatchedFunction = decltype(&CLBlastSgemmStridedBatched);

GemmFunction gemm_function() {
  static const auto function = reinterpret_cast<GemmFunction>(find_clblast_function("CLBlastSgemm"));
  return function;
}

BatchedFunction batched_function() {
  static const auto function = reinterpret_cast<BatchedFunction>(find_clblast_function("CLBlastSgemmStridedBatched"));
  return function;
}

CLBlastTranspose transpose_of(const ClblastMatrix& matrix) {
  return matrix.transposed ? CLBlastTransposeYes : CLBlastTransposeNo;
}

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

bool has_clblast() { return gemm_function() != nullptr && batched_function() != nullptr; }

void clblast_gemm(const char* op, DeviceState& device, std::int64_t m, std::int64_t n, std::int64_t k,
                  std::int64_t batch, const ClblastMatrix& a, const ClblastMatrix& b, const ClblastMatrix& c,
                  float beta) {
  cl_command_queue queue = device.queue();
  const cl_mem a_memory = a.first.block->memory();
  const cl_mem b_memory = b.first.block->memory();
  const cl_mem c_memory = c.first.block->memory();
  const CLBlastStatusCode status =
      batch == 1
          ? gemm_function()(CLBlastLayoutRowMajor, transpose_of(a), transpose_of(b), size_of(m), size_of(n), size_of(k),
                            1.0f, a_memory, a.first.offset, size_of(a.leading), b_memory, b.first.offset,
                            size_of(b.leading), beta, c_memory, c.first.offset, size_of(c.leading), &queue, nullptr)
          : batched_function()(CLBlastLayoutRowMajor, transpose_of(a), transpose_of(b), size_of(m), size_of(n),
                               size_of(k), 1.0f, a_memory, a.first.offset, size_of(a.leading), size_of(a.batch),
                               b_memory, b.first.offset, size_of(b.leading), size_of(b.batch), beta, c_memory,
                               c.first.offset, size_of(c.leading), size_of(c.batch), size_of(batch), &queue, nullptr);
  if (status != CLBlastSuccess)
    fail(ErrorCode::device_failure, op, "CLBlast failed with status ", static_cast<int>(status), " for ", m, " x ", n,
         " x ", k);
}

}  // namespace crisol::runtime

#else

namespace crisol::runtime {

bool has_clblast() { return false; }

void clblast_gemm(const char* op, DeviceState&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                  const ClblastMatrix&, const ClblastMatrix&, const ClblastMatrix&, float) {
  fail(ErrorCode::device_failure, op, "crisol was built without CLBlast");
}

}  // namespace crisol::runtime

#endif
