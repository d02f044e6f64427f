// Replaces the CUDA side when the build found no CUDA toolkit.
#include <stdexcept>

#include "tasks.h"

namespace twins {

#ifndef TWINS_WITH_CUDA
std::unique_ptr<Side> cuda_side() { throw std::runtime_error("built without a CUDA toolkit"); }
#endif
#ifndef TWINS_WITH_CUDA_LIBRARIES
std::unique_ptr<Side> cuda_libraries_side() { throw std::runtime_error("built without cuBLAS and cuDNN"); }
#endif

}  // namespace twins
