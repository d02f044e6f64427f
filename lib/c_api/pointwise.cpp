// Pointwise functions by name, for C: the rows of crisol/ops/pointwise.def, and the functions of whole numbers.
#include <array>
#include <cmath>
#include <string_view>

#include "c_api/handles.h"
#include "functions/pointwise/pointwise.h"
#include "ops/pointwise/pointwise_row.h"
#include "ops/pointwise/whole_rows.h"

using namespace crisol;
using namespace crisol::c_api;
using ops::PointwiseRow;

namespace {

const PointwiseRow& row_of(std::string_view name) {
  for (const auto& rows : {ops::all_rows(), ops::whole_rows()})
    for (const PointwiseRow* row : rows)
      if (row->name == name) return *row;
  fail(ErrorCode::invalid_argument, "pointwise", "there is no '", name, "'; there are: ", crisol_pointwise_names());
}

}  // namespace

Scalar crisol::c_api::scalar_of(double number) {
  constexpr double limit = 9007199254740992.0;  // 2^53: doubles hold all whole numbers up to here.
  const bool minus_zero = number == 0 && std::signbit(number);
  const bool whole = std::trunc(number) == number && std::abs(number) <= limit && !minus_zero;
  return whole ? Scalar(static_cast<std::int64_t>(number)) : Scalar(number);
}

const char* crisol_pointwise_names() {
  static const std::string names = [] {
    std::string all;
    for (const auto& rows : {ops::all_rows(), ops::whole_rows()})
      for (const PointwiseRow* row : rows) all.append(all.empty() ? "" : " ").append(row->name);
    return all;
  }();
  return names.c_str();
}

crisol_status crisol_pointwise(const char* function, int inputs, const crisol_operand* input, int numbers,
                               const double* number, crisol_tensor** result) {
  return give(result, "pointwise", [&] {
    const PointwiseRow& row = row_of(&need(function, "pointwise", "function"));
    require(inputs == static_cast<int>(row.input_count), row.name, inputs, " inputs given, it takes ", row.input_count);
    require(numbers == static_cast<int>(row.scalar_count), row.name, numbers, " numbers given, it takes ",
            row.scalar_count);
    require(input != nullptr && (numbers == 0 || number != nullptr), row.name, "input or number is null");
    std::array<Operand, PointwiseRow::max_inputs> operands{0, 0, 0};
    std::array<Scalar, PointwiseRow::max_scalars> scalars{0, 0};
    bool has_tensor = false;
    for (std::size_t i = 0; i < row.input_count; ++i) {
      has_tensor = has_tensor || input[i].tensor != nullptr;
      operands[i] = operand_of(input[i]);
    }
    require(has_tensor, row.name, "all inputs are numbers; one at least must be a tensor");
    for (std::size_t i = 0; i < row.scalar_count; ++i) scalars[i] = scalar_of(number[i]);
    return autograd::pointwise(row, std::span(operands.data(), row.input_count),
                               std::span(scalars.data(), row.scalar_count));
  });
}
