// The CUDA side: our own kernels.
#include "cuda.h"

namespace twins {

namespace {

class CudaSide : public Side {
 public:
  std::string name() const override { return "CUDA C++"; }
  std::string device() const override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    return properties.name;
  }
  std::optional<Timed> run(const ReluChain& task) override { return run_cuda(task); }
  std::optional<Timed> run(const Sgemm& task) override { return run_cuda(task); }
  std::optional<Timed> run(const Conv3x3& task) override { return run_cuda(task); }
  std::optional<Timed> run(const LstmGates& task) override { return run_cuda(task); }
  std::optional<Timed> run(const SimpleCnn& task) override { return run_cuda(task); }
};

}  // namespace

std::unique_ptr<Side> cuda_side() {
  require_gpu();
  return std::make_unique<CudaSide>();
}

}  // namespace twins
