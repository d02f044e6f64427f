// Filling buffers by zeros, ones and full.
#include "crisol/tensor.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

TEST_CASE("full: every dtype, sizes around those that a kernel fills, odd ends") {
  struct Value {
    DType dtype;
    double value;
  };
  for (const Value& of : {Value{DType::f32, -1.5}, Value{DType::f16, 0.1}, Value{DType::i32, -70000},
                          Value{DType::i64, -5e12}, Value{DType::u8, 200}, Value{DType::boolean, 1}})
    for (const std::int64_t bytes : {8, 16376, 16384, 16391, 16408, 49999})
      for (const double value : {of.value, 0.0}) {
        const std::int64_t count = bytes / static_cast<std::int64_t>(size_of(of.dtype));
        CAPTURE(name_of(of.dtype));
        CAPTURE(count);
        // f16 keeps 11 bits of 0.1.
        testing::check_close(full({count}, value, of.dtype),
                             std::vector<double>(static_cast<std::size_t>(count), value), {0.5});
      }
}

}  // namespace crisol
