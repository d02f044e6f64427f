#include "cuda_libraries.h"

namespace twins {

Timed run_libraries(const CudaLibraries& libraries, const Sgemm& task) {
  const DeviceFloats a(task.a), b(task.b), c(static_cast<std::size_t>(task.m) * task.n);
  const float one = 1, zero = 0;
  const double ms = cuda_time([&] {
    // cuBLAS stores matrices by columns, so this call computes the transposed product bᵀ aᵀ = cᵀ.
    check(cublasSgemm(libraries.blas(), CUBLAS_OP_N, CUBLAS_OP_N, task.n, task.m, task.k, &one, b.get(), task.n,
                      a.get(), task.k, &zero, c.get(), task.n),
          "cublasSgemm");
  });
  return {c.download(), ms};
}

}  // namespace twins
