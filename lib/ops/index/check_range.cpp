// Elements outside of bounds: cl_kernels/index/check_range.cl.
#include <algorithm>
#include <string>

#include "base/interned_text.h"
#include "base/text.h"
#include "ops/index/indexing.h"
#include "ops/storage.h"
#include "runtime/memory/fault_flag.h"

namespace crisol::ops {

void check_range(std::string_view op, const Tensor& x, double low, double high) {
  const char* const name = interned(intern(op)).c_str();
  require(x.defined(), name, "the tensor is undefined");
  require_floating(name, "the tensor", x);
  const std::string bounds = concat('[', low, ", ", high, ']');
  if (checks_indices()) {
    for (const float value : x.to(DType::f32).to_vector<float>())
      require(value >= low && value <= high, name, "an element is ", value, ", which is not in ", bounds);
    return;
  }
  const std::int64_t n = x.numel();
  if (n == 0) return;
  runtime::DeviceState& device = state_of(x);
  runtime::Defines defines = elements_of(storage_of(x));
  define_real(defines, x.dtype());
  runtime::BuiltKernel& kernel = runtime::resolve(device, {"index/check_range.cl", "check_range", defines});
  runtime::FaultFlag& fault = fault_flag_of(device);
  constexpr std::int64_t most_items = 1 << 16;
  runtime::launch(device, kernel, runtime::flat_range(device, std::min(n, most_items)), in(Contiguous(x)),
                  fault.words(), n, real_arg(low, x.dtype()), real_arg(high, x.dtype()),
                  runtime::fault_number(name, runtime::FaultKind::range, bounds));
  fault.expect();
}

}  // namespace crisol::ops
