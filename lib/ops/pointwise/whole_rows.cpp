#include "ops/pointwise/whole_rows.h"

#include <array>

namespace crisol::ops {

namespace {

constexpr PointwiseRow of_two(const char* name, const char* value, const char* formula) {
  return {name, RowRule::whole, 2, {"a", "b"}, 0, {}, value, nullptr, {}, formula};
}

}  // namespace

namespace rows {

const PointwiseRow bitwise_and = of_two("bitwise_and", "a & b", "the bits that are 1 in a and in b");
const PointwiseRow bitwise_or = of_two("bitwise_or", "a | b", "the bits that are 1 in a or in b");
const PointwiseRow bitwise_xor = of_two("bitwise_xor", "a ^ b", "the bits that differ in a and b");
const PointwiseRow bitwise_not{
    "bitwise_not", RowRule::whole, 1, {"x"}, 0, {}, "~x", nullptr, {}, "each bit of x is inverted"};
const PointwiseRow bitwise_left_shift =
    of_two("bitwise_left_shift", "shift_left_(a, b)", "a 2^b modulo the dtype's size; 0 for a wrong b");
const PointwiseRow bitwise_right_shift =
    of_two("bitwise_right_shift", "shift_right_(a, b)", "floor(a / 2^b); 0 for a wrong b, or -1 for a negative a");
const PointwiseRow trunc_divide = of_two("trunc_divide", "dividei_(a, b)", "a / b cut toward zero; 0 for b = 0");

}  // namespace rows

std::span<const PointwiseRow* const> whole_rows() {
  static constexpr std::array list{&rows::bitwise_and, &rows::bitwise_or,         &rows::bitwise_xor,
                                   &rows::bitwise_not, &rows::bitwise_left_shift, &rows::bitwise_right_shift,
                                   &rows::trunc_divide};
  return list;
}

}  // namespace crisol::ops
