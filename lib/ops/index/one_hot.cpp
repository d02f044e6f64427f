#include <algorithm>
#include <cstring>

#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/index.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/index/indexing.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

std::int64_t largest_class(const Tensor& indices) {
  std::int64_t largest = -1;
  for (const std::int64_t value : cast(indices, DType::i64).to_vector<std::int64_t>()) {
    require(value >= 0, "one_hot", "index ", value, " is negative");
    largest = std::max(largest, value);
  }
  return largest;
}

}  // namespace

Tensor one_hot(const Tensor& indices, std::int64_t num_classes, DType dtype) {
  constexpr const char* op = "one_hot";
  require_index(op, indices, indices);
  require(num_classes >= -1, op, "num_classes is ", num_classes);
  require(num_classes >= 0 || indices.numel() > 0, op, "the number of classes is open, and there are no indices");
  const std::int64_t classes = num_classes >= 0 ? num_classes : largest_class(indices) + 1;
  check_indices(op, indices, classes);
  Shape shape = indices.shape();
  shape.push_back(classes);
  runtime::DeviceState& device = state_of(indices);
  const Tensor y = empty(shape, dtype, indices.device());
  if (y.numel() == 0) return y;
  const Contiguous labels(indices);
  const std::uint64_t one = with_host_type(dtype, [](auto element) {
    element = element_of<decltype(element)>(1);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof element);
    return bits;
  });
  const dispatch::Target target = dispatch::target_of(device);
  const dispatch::WorkSplit split = split_for(target, y.numel());
  runtime::FaultFlag& fault = fault_flag_of(device);
  runtime::launch(device,
                  {"index/one_hot.cl",
                   "one_hot",
                   {{"INDEX", number_type(indices.dtype())},
                    {"T", type_of_element(dtype)},
                    {"ONE", static_cast<std::int64_t>(one)}}},
                  range_of(target, split.items), in(labels), out(y), y.numel(), classes, split.chunk, fault.words(),
                  fault_number(op));
  fault.expect();
  return y;
}

}  // namespace crisol::ops
