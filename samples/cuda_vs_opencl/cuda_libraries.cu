// The CUDA side with NVIDIA's libraries.
#include "cuda_libraries.h"

namespace twins {

namespace {

class CudaLibrariesSide : public Side {
 public:
  std::string name() const override { return "cuBLAS, cuDNN"; }
  std::string device() const override { return "as CUDA C++"; }
  using Side::run;  // For the tasks that these libraries do not offer.
  std::optional<Timed> run(const Sgemm& task) override { return run_libraries(libraries_, task); }
  std::optional<Timed> run(const Conv3x3& task) override { return run_libraries(libraries_, task); }
  std::optional<Timed> run(const SimpleCnn& task) override { return run_libraries(libraries_, task); }

 private:
  CudaLibraries libraries_;
};

}  // namespace

std::unique_ptr<Side> cuda_libraries_side() {
  require_gpu();
  return std::make_unique<CudaLibrariesSide>();
}

}  // namespace twins
