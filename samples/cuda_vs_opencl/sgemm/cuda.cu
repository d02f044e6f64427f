#include "cuda.h"
#include "sgemm.cuh"

namespace twins {

Timed run_cuda(const Sgemm& task) {
  const DeviceFloats a(task.a), b(task.b), c(static_cast<std::size_t>(task.m) * task.n);
  const dim3 grid(blocks_of(task.n, tile), blocks_of(task.m, tile)), block(threads, threads);
  const double ms = cuda_time([&] { sgemm<<<grid, block>>>(a.get(), b.get(), c.get(), task.m, task.n, task.k); });
  return {c.download(), ms};
}

}  // namespace twins
