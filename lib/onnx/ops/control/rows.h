// The results of several iterations, joined along a new axis.
#pragma once

#include "graph/graph.h"
#include "onnx/ops/call.h"

namespace crisol::onnx {

/// Joins tensors of one shape along a new axis. If there are no tensors, the result has the type and the other sizes of
/// `known`. An unknown size is then 0.
graph::Datum joined(const graph::Data& rows, std::int64_t axis, const graph::Value& known, Device device);

/// The known facts about the rows of a loop without iterations: the types and sizes that the loop's body would give for
/// these arguments. The rows come after the body's first `states` outputs. Returns `otherwise` if the body needs values
/// to determine the facts.
std::vector<graph::Value> rows_of_no_iterations(const graph::RunBody& run_body, graph::Data arguments,
                                                std::size_t states, const std::vector<graph::Value>& otherwise);

/// The known facts about a value, without one of its axes.
graph::Value without_axis(const graph::Value& value, std::int64_t axis);

/// Adds facts to those about a row, from the file's description of the joined rows.
void add_declared_row(const graph::Value& joined, std::int64_t axis, graph::Value& row);

/// The known facts about joined rows. They have one more axis than a row, and its size is unknown.
graph::Value joined_value(const graph::Value& row, std::int64_t axis = 0);

/// Row i along an axis.
graph::Datum row_of(const graph::Datum& rows, int axis, std::int64_t i, Device device);

}  // namespace crisol::onnx
