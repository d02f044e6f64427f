// dtypes of results, by PyTorch's rules.
#include <iterator>
#include <vector>

#include "crisol/ops/elementwise.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr DType f64 = DType::f64, f32 = DType::f32, f16 = DType::f16, bf16 = DType::bf16, i32 = DType::i32,
                i64 = DType::i64, u8 = DType::u8, boolean = DType::boolean, i8 = DType::i8, i16 = DType::i16,
                u16 = DType::u16, u32 = DType::u32, u64 = DType::u64;
constexpr DType all[] = {f64, f32, f16, bf16, i32, i64, u8, boolean, i8, i16, u16, u32, u64};

}  // namespace

TEST_CASE("promotion: two tensors, as PyTorch's table has it") {
  // torch.promote_types of float64, float32, float16, bfloat16, int32, int64, uint8, bool, int8, int16. PyTorch does
  // not promote uint16, uint32 and uint64 with types that have a sign. Their rows are numpy.promote_types.
  constexpr std::size_t count = std::size(all);
  // clang-format off
  constexpr DType table[count][count] = {{f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64},
                                         {f64, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32},
                                         {f64, f32, f16, f32, f16, f16, f16, f16, f16, f16, f16, f16, f16},
                                         {f64, f32, f32, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16},
                                         {f64, f32, f16, bf16, i32, i64, i32, i32, i32, i32, i32, i64, f64},
                                         {f64, f32, f16, bf16, i64, i64, i64, i64, i64, i64, i64, i64, f64},
                                         {f64, f32, f16, bf16, i32, i64, u8, u8, i16, i16, u16, u32, u64},
                                         {f64, f32, f16, bf16, i32, i64, u8, boolean, i8, i16, u16, u32, u64},
                                         {f64, f32, f16, bf16, i32, i64, i16, i8, i8, i16, i32, i64, f64},
                                         {f64, f32, f16, bf16, i32, i64, i16, i16, i16, i16, i32, i64, f64},
                                         {f64, f32, f16, bf16, i32, i64, u16, u16, i32, i32, u16, u32, u64},
                                         {f64, f32, f16, bf16, i64, i64, u32, u32, i64, i64, u32, u32, u64},
                                         {f64, f32, f16, bf16, f64, f64, u64, u64, f64, f64, u64, u64, u64}};
  // clang-format on
  std::vector<Tensor> ones_of;
  for (const DType dtype : all) ones_of.push_back(ones({1}, dtype));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      CAPTURE(all[a]);
      CAPTURE(all[b]);
      CHECK(promote_types(all[a], all[b]) == table[a][b]);
      CHECK(result_type(ones_of[a], ones_of[b]) == table[a][b]);
      // Tensors without elements, so that nothing is compiled.
      CHECK(ops::mul(zeros({0}, all[a]), zeros({0}, all[b])).dtype() == table[a][b]);
      CHECK(ops::div(zeros({0}, all[a]), zeros({0}, all[b])).dtype() == (is_floating(table[a][b]) ? table[a][b] : f32));
      CHECK(ops::lt(zeros({0}, all[a]), zeros({0}, all[b])).dtype() == boolean);
      CHECK(ops::logical_or(zeros({0}, all[a]), zeros({0}, all[b])).dtype() == boolean);
      CHECK(ops::where(zeros({0}, boolean), zeros({0}, all[a]), zeros({0}, all[b])).dtype() == table[a][b]);
    }
  }
}

TEST_CASE("promotion: numbers and tensors of rank 0 raise a dtype only to a higher kind") {
  for (const DType dtype : all) {
    CAPTURE(dtype);
    const Tensor x = zeros({0}, dtype);
    CHECK(result_type(x, true) == dtype);
    CHECK(result_type(x, 2) == (dtype == boolean ? i64 : dtype));
    CHECK(result_type(2, x) == result_type(x, 2));
    CHECK(result_type(x, 2.5) == (is_floating(dtype) ? dtype : f32));
    CHECK(ops::add(x, 2).dtype() == result_type(x, 2));
    CHECK(ops::add(2.5, x).dtype() == result_type(x, 2.5));
    CHECK(ops::clamp(x, 0.5, 2).dtype() == result_type(x, 2.5));
    CHECK(result_type(x, zeros({}, i64)) == (dtype == boolean ? i64 : dtype));
    CHECK(result_type(x, zeros({}, f16)) == (is_floating(dtype) ? dtype : f16));
  }
  CHECK(result_type(zeros({}, i32), 2) == i32);
  CHECK(result_type(zeros({}, u8), zeros({}, i64)) == i64);
  CHECK(result_type(2, 2.5) == f32);
}

TEST_CASE("promotion: values of mixed dtypes, and whole numbers modulo their size") {
  const Tensor bytes = tensor_of({250, 3, 0}, {3}, u8), whole = tensor_of({-1, 1 << 30, 7}, {3}, i32);
  check_close(ops::add(bytes, 10), {4, 13, 10}, {0});
  check_close(ops::neg(bytes), {6, 253, 0}, {0});
  check_close(ops::mul(bytes, bytes), {36, 9, 0}, {0});
  check_close(ops::add(bytes, whole), {249, (1 << 30) + 3, 7}, {0});
  check_close(ops::add(whole, whole), {-2, -2147483648.0, 14}, {0});
  check_close(ops::div(bytes, 4), {62.5, 0.75, 0}, {1});
  const Tensor truth = tensor_of({1, 0, 1}, {3}, boolean);
  check_close(ops::add(truth, truth), {1, 0, 1}, {0});
  check_close(ops::mul(truth, whole), {-1, 0, 7}, {0});
  CHECK(ops::add(truth, truth).dtype() == boolean);
  const std::int64_t large = (std::int64_t{1} << 53) + 1;  // Neither double nor float holds it.
  CHECK(ops::add(from_vector<std::int64_t>({large}), 2).item<std::int64_t>() == large + 2);
  CHECK(ops::mul(from_vector<std::int64_t>({1}), large).item<std::int64_t>() == large);
  CHECK(ops::maximum(from_vector<std::int64_t>({large}), large - 1).item<std::int64_t>() == large);
}

TEST_CASE("promotion: dividing whole numbers by zero, and the least by -1, does not trap") {
  if (Device().info().platform == "Oclgrind")
    CRISOL_SKIP("oclgrind takes the 1 of a vector's condition for 255, see docs/implementations.md");
  const std::int32_t least = -2147483647 - 1;
  const Tensor a = from_vector<std::int32_t>({7, -7, 7, -7, 5, least}),
               b = from_vector<std::int32_t>({3, 3, -3, -3, 0, -1});
  check_close(ops::remainder(a, b), {1, 2, -2, -1, 0, 0}, {0});
  check_close(ops::fmod(a, b), {1, -1, 1, -1, 0, 0}, {0});
  check_close(ops::remainder(a, zeros({6}, DType::i32)), {0, 0, 0, 0, 0, 0}, {0});
  check_error([&] { ops::remainder(a, 0); }, {"[remainder]", "divided by 0"});
  check_close(ops::pow(from_vector<std::int32_t>({2, -2, 0, 1, -1, 2, 3}),
                       from_vector<std::int32_t>({31, 3, 0, -5, -5, -1, 21})),
              {static_cast<double>(least), -8, 1, 1, -1, 0, 1870418611}, {0});
}
