// Every row of crisol/ops/pointwise.def: reference, values on every dtype, derivatives, edge values, names.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "crisol/error.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/pointwise/pointwise_check.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

constexpr DType all_dtypes[] = {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean, DType::bf16};

bool accepts(const RowUnderTest& row, DType dtype) {
  std::vector<ops::OperandType> types;
  for (std::size_t i = 0; i < row.row->input_count; ++i)
    types.push_back({row.row->is_condition(i) ? DType::boolean : dtype});
  for (std::size_t i = 0; i < row.row->scalar_count; ++i) types.push_back({DType::f32, ops::OperandKind::number});
  try {
    ops::types_of(*row.row, types);
  } catch (const Error&) {
    return false;
  }
  return true;
}

// Exact values of a dtype from -4 to 4. Some are outside the domain of some rows, which must then give NaN. Some are
// inside the domain of every row.
std::vector<double> values_for(DType dtype, std::uint64_t seed, std::int64_t count) {
  if (dtype == DType::f32) return random_values(seed, count, -4, 4);
  const int low = dtype == DType::u8 || dtype == DType::boolean ? 0 : -4, high = dtype == DType::boolean ? 1 : 4;
  if (!is_floating(dtype)) return random_integers(seed, count, low, high);
  std::vector<double> values = random_integers(seed, count, -128, 128);
  for (double& value : values) value /= 32;
  return values;
}

std::vector<double> inputs_of(const RowUnderTest& row, std::size_t i, const std::vector<std::vector<double>>& inputs,
                              const std::vector<double>& mask) {
  return row.row->is_condition(i) ? mask : inputs[i];
}

std::vector<std::vector<double>> inputs_of(const RowUnderTest& row, const std::vector<std::vector<double>>& inputs,
                                           const std::vector<double>& mask) {
  std::vector<std::vector<double>> own;
  for (std::size_t i = 0; i < row.row->input_count; ++i) own.push_back(inputs_of(row, i, inputs, mask));
  return own;
}

// Programs of a hundred rows take minutes to compile on llvmpipe.
std::vector<RowUnderTest> rows_to_run() {
  if (Device().info().platform != "rusticl") return table_rows();
  note_skip("every twelfth row only: programs of many rows compile slowly");
  std::vector<RowUnderTest> rows;
  for (std::size_t r = 0; r < table_rows().size(); r += 12) rows.push_back(table_rows()[r]);
  return rows;
}

// oclgrind reads the 1 that the compiler makes of a vector's condition as 255 (docs/implementations.md).
bool oclgrind_mistakes(const RowUnderTest& row, DType dtype) {
  const std::string name = row.row->name;
  return Device().info().platform == "Oclgrind" && !is_floating(dtype) &&
         (name == "pow" || name == "floor_divide" || name == "remainder" || name == "fmod" || name == "sign");
}

}  // namespace

TEST_CASE("pointwise rows: names, formulas, references, and a gradient for each input") {
  for (const RowUnderTest& row : table_rows()) check_reference(row);
}

TEST_CASE("pointwise rows: every dtype") {
  if (Device().info().platform == "Oclgrind")
    note_skip("no pow, floor_divide, remainder, fmod and sign of whole numbers, its fault");
  const std::vector<RowUnderTest> tested = rows_to_run();
  constexpr std::int64_t count = 83;
  const std::vector<double> mask = random_integers(5, count, 0, 1);
  for (const DType dtype : all_dtypes) {
    CAPTURE(dtype);
    std::vector<std::vector<double>> values;
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < 3; ++i) {
      values.push_back(values_for(dtype, 11 + i, count));
      tensors.push_back(tensor_of(values[i], {count}, dtype));
    }
    std::vector<RowUnderTest> rows;
    for (const RowUnderTest& row : tested) {
      // The tests' scalars are fractions, so bool becomes f32 with them, unless the row takes the dtype of its inputs.
      const bool numeric = row.row->rule == ops::RowRule::limits ||
                           (row.row->rule == ops::RowRule::number && row.row->scalar_count == 0);
      CHECK(accepts(row, dtype) == !(numeric && dtype == DType::boolean));
      if (accepts(row, dtype) && !oclgrind_mistakes(row, dtype)) rows.push_back(row);
    }
    const std::vector<Tensor> results = run_rows(rows, tensors, tensor_of(mask, {count}, DType::boolean));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      CAPTURE(std::string(rows[r].row->name));
      check_each(results[r], expected_values(rows[r], inputs_of(rows[r], values, mask), results[r].dtype()), 32);
    }
  }
}

TEST_CASE("pointwise rows: derivatives in f32 and f16") {
  const std::vector<RowUnderTest> tested = rows_to_run();
  constexpr std::int64_t count = 83;
  const std::vector<double> mask = random_integers(5, count, 0, 1);
  for (const DType dtype : {DType::f32, DType::f16}) {
    CAPTURE(dtype);
    std::vector<std::vector<double>> values;
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < 3; ++i) {
      values.push_back(values_for(dtype, 21 + i, count));
      tensors.push_back(tensor_of(values[i], {count}, dtype));
    }
    const std::vector<double> dy = values_for(dtype, 31, count);
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<RowUnderTest> rows;
      for (const RowUnderTest& row : tested)
        if (row.row->has_derivative(k)) rows.push_back(row);
      const std::vector<Tensor> results =
          run_derivatives(rows, k, tensor_of(dy, {count}, dtype), tensors, tensor_of(mask, {count}, DType::boolean));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        CAPTURE(std::string(rows[r].row->name));
        CAPTURE(k);
        CHECK(results[r].dtype() == dtype);
        check_each(results[r], expected_derivatives(rows[r], k, dy, inputs_of(rows[r], values, mask)), 64);
      }
    }
  }
}
