#include "reference/whole.h"

#include "crisol/dtype_table.h"
#include "crisol/functions/bitwise.h"

namespace crisol::reference {

namespace {

std::int64_t shifted_left(std::int64_t a, std::int64_t b, int bits) {
  return b < 0 || b >= bits ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
}

std::int64_t shifted_right(std::int64_t a, std::int64_t b, int bits) {
  return b < 0 || b >= bits ? (a < 0 ? -1 : 0) : a >> b;
}

std::int64_t divided(std::int64_t a, std::int64_t b, int) {
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  return b == 0 ? 0 : a / b;
}

}  // namespace

std::vector<std::int64_t> WholeFunction::expected(const std::vector<std::int64_t>& a,
                                                  const std::vector<std::int64_t>& b, DType dtype) const {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int64_t all = value(a[i], b[i], static_cast<int>(8 * size_of(dtype)));
    values.push_back(with_host_type(dtype, [&](auto element) {
      if constexpr (std::is_integral_v<decltype(element)>)
        return static_cast<std::int64_t>(static_cast<decltype(element)>(all));
      return all;
    }));
  }
  return values;
}

const std::vector<WholeFunction>& whole_functions() {
#define OF_TWO(name) #name, 2, [](const Tensor& a, const Tensor& b) { return crisol::name(a, b); }
#define VALUE(formula) [](std::int64_t a, [[maybe_unused]] std::int64_t b, int) -> std::int64_t { return formula; }
  static const std::vector<WholeFunction> functions{
      {OF_TWO(bitwise_and), VALUE(a & b)},
      {OF_TWO(bitwise_or), VALUE(a | b)},
      {OF_TWO(bitwise_xor), VALUE(a ^ b)},
      {"bitwise_not", 1, [](const Tensor& a, const Tensor&) { return bitwise_not(a); }, VALUE(~a)},
      {OF_TWO(bitwise_left_shift), shifted_left},
      {OF_TWO(bitwise_right_shift), shifted_right},
      {OF_TWO(trunc_divide), divided}};
#undef OF_TWO
#undef VALUE
  return functions;
}

}  // namespace crisol::reference
