// The results of several iterations, joined along a new axis.
#pragma once

#include "graph/graph.h"
#include "onnx/ops/call.h"

namespace crisol::onnx {

/// Joins tensors of one shape along a new axis. Without any, the result has the type and the other sizes of `known`,
/// where a size that is not known is 0.
graph::Datum joined(const graph::Data& rows, std::int64_t axis, const graph::Value& known, Device device);

/// What is known of the rows of a loop that has no iterations: the types and sizes that its body would give for these
/// arguments, behind its first `states` outputs. `otherwise` if the body needs values to tell.
std::vector<graph::Value> rows_of_no_iterations(const graph::RunBody& run_body, graph::Data arguments,
                                                std::size_t states, const std::vector<graph::Value>& otherwise);

/// The known facts about a value without one of its axes.
graph::Value without_axis(const graph::Value& value, std::int64_t axis);

/// Adds to a row the facts that the file gives about joined rows.
void add_declared_row(const graph::Value& joined, std::int64_t axis, graph::Value& row);

/// The known facts about joined rows: they have one more axis, of an open size.
graph::Value joined_value(const graph::Value& row, std::int64_t axis = 0);

/// A row along an axis.
graph::Datum row_of(const graph::Datum& rows, int axis, std::int64_t i, Device device);

}  // namespace crisol::onnx
