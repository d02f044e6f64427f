#include "onnx/ops/control/rows.h"

#include <algorithm>

#include "base/text.h"
#include "crisol/functions/arrange.h"
#include "crisol/functions/cat.h"
#include "onnx/ops/axes.h"
#include "onnx/tensors.h"
#include "runtime/dry_run.h"

namespace crisol::onnx {

using graph::Data;
using graph::Datum;
using graph::Value;

namespace {

Datum no_rows(std::int64_t axis, const Value& known, Device device) {
  require(known.dtype && known.shape, "onnx", "there are no iterations, and the file does not tell the ",
          known.dtype ? "shape" : "element type", " of what they would give");
  Shape sizes;
  for (const graph::SymbolicSize& size : *known.shape) sizes.push_back(size.size.value_or(0));
  sizes.insert(axis_of(axis, sizes.rank() + 1), 0);
  return zeros(sizes, *known.dtype, device);
}

}  // namespace

Datum joined(const Data& rows, std::int64_t axis, const Value& known, Device device) {
  if (rows.empty()) return no_rows(axis, known, device);
  constexpr std::size_t max_on_host = 1024;
  const auto is_number = [&](const Datum& row) {
    return row.on_host() && row.shape().rank() == 0 && row.dtype() == rows[0].dtype();
  };
  if (rows.size() <= max_on_host && std::all_of(rows.begin(), rows.end(), is_number)) {
    Numbers numbers;
    for (const Datum& row : rows) numbers.push_back(row.numbers()[0]);
    return Datum(std::move(numbers), Shape(static_cast<std::int64_t>(rows.size())), rows[0].dtype());
  }
  std::vector<Tensor> tensors;
  for (const Datum& row : rows) tensors.push_back(row.tensor(device));
  return stack(tensors, axis_of(axis, tensors[0].dim() + 1));
}

std::vector<Value> rows_of_no_iterations(const graph::RunBody& run_body, Data arguments, std::size_t states,
                                         const std::vector<Value>& otherwise) {
  if (otherwise.empty()) return {};
  const runtime::DryRun dry_run;
  try {
    const Data results = run_body(0, std::move(arguments));
    std::vector<Value> rows;
    for (std::size_t k = states; k < results.size(); ++k) rows.push_back(value_of(results[k]));
    return rows;
  } catch (const Error&) {
    return otherwise;
  }
}

Value without_axis(const Value& value, std::int64_t axis) {
  Value row = value;
  if (row.shape) row.shape->erase(row.shape->begin() + axis_of(axis, static_cast<int>(row.shape->size())));
  return row;
}

void add_declared_row(const Value& joined, std::int64_t axis, Value& row) {
  if (!row.dtype) row.dtype = joined.dtype;
  const auto rank = static_cast<std::int64_t>(joined.shape ? joined.shape->size() : 0);
  if (!row.shape && axis >= -rank && axis < rank) row.shape = without_axis(joined, axis).shape;
}

Value joined_value(const Value& row, std::int64_t axis) {
  Value value = row;
  if (!value.shape) return value;
  const auto rank = static_cast<int>(value.shape->size());
  value.shape->insert(value.shape->begin() + axis_of(axis, rank + 1), graph::SymbolicSize());
  return value;
}

Datum row_of(const Datum& rows, int axis, std::int64_t i, Device device) {
  if (rows.on_host() && rows.shape().rank() == 1)
    return Datum(Numbers{rows.numbers()[static_cast<std::size_t>(i)]}, Shape(), rows.dtype());
  return rows.tensor(device).select(axis, i);
}

}  // namespace crisol::onnx
