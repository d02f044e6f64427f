// Nodes that are rows of single elements.
#pragma once

#include <type_traits>
#include <vector>

#include "crisol/scalar.h"
#include "graph/ops/elements.h"
#include "onnx/ops/host_numbers.h"
#include "onnx/ops/table.h"
#include "ops/pointwise/pointwise_row.h"

namespace crisol::onnx {

namespace rows = ops::rows;

/// The known facts about the first output: the dtype of the first input or bool, and the common shape.
inline void gives_elements(Call& call, const ops::PointwiseRow& row) {
  graph::Value y = broadcast(call.known_inputs());
  if (row.is_predicate()) y.dtype = DType::boolean;
  call.gives(0, y);
}

/// A node that computes a row.
inline graph::Run run_of_row(Call& call, const ops::PointwiseRow& row, const std::vector<Scalar>& numbers = {}) {
  call.check_counts(row.input_count, row.input_count);
  gives_elements(call, row);
  return graph::run_of_row(row, numbers);
}

template <const ops::PointwiseRow& row>
graph::Run elements(Call& call) {
  return run_of_row(call, row);
}

/// The same for an op that ONNX has for floating-point numbers only.
template <const ops::PointwiseRow& row>
graph::Run reals(Call& call) {
  call.require_floating(0);
  return run_of_row(call, row);
}

/// The same for an op that also computes shapes: `host` gets the operands, and numbers on the host stay there.
template <const ops::PointwiseRow& row, class Host>
graph::Run numbers(Call& call) {
  const graph::Run run = run_of_row(call, row);
  return {[run](const graph::Data& in, Device device) -> graph::Data {
            const auto host = [](const std::int64_t* n) -> std::int64_t {
              if constexpr (std::is_invocable_v<Host, std::int64_t, std::int64_t>)
                return Host()(n[0], n[1]);
              else
                return Host()(n[0]);
            };
            if (const auto y = map_on_host(in, row.is_predicate() ? DType::boolean : in[0].dtype(), host)) return {*y};
            return run(in, device);
          },
          run.formula};
}

}  // namespace crisol::onnx
