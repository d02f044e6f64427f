#include "support/pointwise/pointwise_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "crisol/dtype_table.h"
#include "crisol/tuning.h"
#include "doctest/doctest.h"
#include "functions/pointwise/pointwise.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/pointwise_kernels.h"
#include "support/compare.h"
#include "support/gradcheck.h"

namespace crisol::testing {

namespace {

using ops::PointwiseGraph;

// A graph to which outputs are added until it is full, and its results.
class Batch {
 public:
  Batch(const std::vector<Tensor>& inputs, const Tensor& mask, Program program) : tensors_(inputs), program_(program) {
    tensors_.push_back(mask);
    begin();
  }

  // `make(graph, nodes of the inputs, nodes of the numbers)` returns the output's node.
  void add(const RowUnderTest& row,
           const std::function<int(PointwiseGraph&, const std::vector<int>&, const std::vector<int>&)>& make) {
    const std::vector<double>& numbers = row.reference->scalars;
    if (graph_.outputs().size() == PointwiseGraph::max_outputs ||
        graph_.scalar_count() + numbers.size() > PointwiseGraph::max_scalars)
      flush();
    std::vector<int> inputs, scalars;
    for (std::size_t i = 0; i < row.row->input_count; ++i)
      inputs.push_back(nodes_[row.row->is_condition(i) ? nodes_.size() - 1 : i]);
    for (const double number : numbers) {
      scalars.push_back(graph_.scalar(DType::f32));
      numbers_.push_back(number);
    }
    graph_.output(make(graph_, inputs, scalars));
  }

  std::vector<Tensor> results() {
    flush();
    return results_;
  }

 private:
  void begin() {
    graph_ = PointwiseGraph();
    nodes_.clear();
    numbers_.clear();
    for (const Tensor& x : tensors_) nodes_.push_back(graph_.input(x.dtype()));
  }

  void flush() {
    if (!graph_.outputs().empty()) {
      std::vector<const Tensor*> pointers;
      for (const Tensor& x : tensors_) pointers.push_back(&x);
      std::vector<Tensor> outputs(graph_.outputs().size());
      std::optional<ForcedVariant> items;
      if (program_ == Program::quick_to_compile) items.emplace("pointwise", "items");
      ops::kernels_of(graph_).run("batch", pointers, numbers_, outputs);
      results_.insert(results_.end(), outputs.begin(), outputs.end());
    }
    begin();
  }

  std::vector<Tensor> tensors_, results_;
  Program program_;
  PointwiseGraph graph_;
  std::vector<int> nodes_;
  std::vector<Scalar> numbers_;
};

// A value as this dtype stores it. Whole numbers are kept modulo the dtype's range. A division by zero and a negative
// power give 0.
double stored(double value, DType dtype) {
  if (dtype == DType::boolean) return value != 0;
  if (dtype == DType::f32) return static_cast<float>(value);
  if (is_floating(dtype)) return value;
  const double whole = std::isfinite(value) ? std::trunc(value) : 0;
  return dtype == DType::u8 ? whole - 256 * std::floor(whole / 256) : whole;
}

std::vector<double> at(const std::vector<std::vector<double>>& inputs, std::size_t i) {
  std::vector<double> values;
  for (const auto& input : inputs) values.push_back(input[i]);
  return values;
}

std::vector<double> random_inputs(const RowUnderTest& row, std::size_t k, std::int64_t count) {
  if (row.row->is_condition(k)) return random_integers(70 + k, count, 0, 1);
  std::vector<double> values = random_values(7 + k, count, row.reference->low, row.reference->high);
  // Zero and equal inputs are the points at which conditions change.
  if (row.reference->low < 0 && count > 4) values[1] = values[2] = 0;
  return values;
}

Tensor input_tensor(const RowUnderTest& row, std::size_t k, const std::vector<double>& values) {
  return tensor_of(values, {static_cast<std::int64_t>(values.size())},
                   row.row->is_condition(k) ? DType::boolean : DType::f32);
}

// OpenCL allows errors of 16 ulp for pow and erf, and the longest rows combine two such values.
constexpr Tolerance rounding{32};

}  // namespace

std::vector<Tensor> run_rows(const std::vector<RowUnderTest>& rows, const std::vector<Tensor>& inputs,
                             const Tensor& mask, Program program) {
  Batch batch(inputs, mask, program);
  for (const RowUnderTest& row : rows) {
    batch.add(row, [&](PointwiseGraph& graph, std::vector<int> operands, const std::vector<int>& scalars) {
      operands.insert(operands.end(), scalars.begin(), scalars.end());
      return graph.apply(*row.row, operands);
    });
  }
  return batch.results();
}

std::vector<Tensor> run_derivatives(const std::vector<RowUnderTest>& rows, std::size_t k, const Tensor& dy,
                                    const std::vector<Tensor>& inputs, const Tensor& mask) {
  std::vector<Tensor> all = inputs;
  all.push_back(dy);
  Batch batch(all, mask, Program::quick_to_compile);
  for (const RowUnderTest& row : rows) {
    batch.add(row, [&](PointwiseGraph& graph, const std::vector<int>& operands, const std::vector<int>& scalars) {
      std::vector<int> forward = operands;
      forward.insert(forward.end(), scalars.begin(), scalars.end());
      const int of_dy = graph.nodes().empty() ? 0 : static_cast<int>(inputs.size());
      return graph.derivative(*row.row, k, of_dy, operands, graph.apply(*row.row, forward), scalars);
    });
  }
  return batch.results();
}

std::vector<double> expected_values(const RowUnderTest& row, const std::vector<std::vector<double>>& inputs,
                                    DType result) {
  std::vector<double> values;
  for (std::size_t i = 0; i < inputs[0].size(); ++i)
    values.push_back(stored(row.reference->forward(at(inputs, i).data(), row.reference->scalars.data()), result));
  return values;
}

std::vector<double> expected_derivatives(const RowUnderTest& row, std::size_t k, const std::vector<double>& dy,
                                         const std::vector<std::vector<double>>& inputs) {
  std::vector<double> values;
  const double* scalars = row.reference->scalars.data();
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const std::vector<double> v = at(inputs, i);
    values.push_back(
        row.reference->derivatives[k](dy[i], v.data(), row.reference->forward(v.data(), scalars), scalars));
  }
  return values;
}

void check_reference(const RowUnderTest& row) {
  CAPTURE(std::string(row.row->name));
  CHECK(std::string(row.row->name) == row.reference->name);
  CHECK(std::string(row.row->formula).size() > 0);
  CHECK(row.reference->low < row.reference->high);
  CHECK(row.reference->scalars.size() == row.row->scalar_count);
  constexpr std::int64_t count = 200;
  std::vector<std::vector<double>> inputs;
  for (std::size_t k = 0; k < row.row->input_count; ++k) inputs.push_back(random_inputs(row, k, count));
  for (std::size_t k = 0; k < row.row->input_count; ++k) {
    // Only predicates and conditions have no derivative.
    CHECK(!row.row->has_derivative(k) == (row.row->is_predicate() || row.row->is_condition(k)));
    if (!row.row->has_derivative(k)) continue;
    REQUIRE(static_cast<bool>(row.reference->derivatives[k] != nullptr));
    int compared = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<double> v = at(inputs, i);
      const double* scalars = row.reference->scalars.data();
      const double y = row.reference->forward(v.data(), scalars), step = 1e-5;
      const auto moved = [&](double by) {
        std::vector<double> w = v;
        w[k] += by;
        return row.reference->forward(w.data(), scalars);
      };
      const double above = (moved(step) - y) / step, below = (y - moved(-step)) / step;
      // A kink or a jump has no derivative to compare.
      if (std::abs(above - below) > 1e-2 * (1 + std::abs(above)) || std::abs(above) > 1e4) continue;
      ++compared;
      const double given = row.reference->derivatives[k](1, v.data(), y, scalars);
      CHECK(std::abs(given - (above + below) / 2) < 1e-4 * (1 + std::abs(given)));
    }
    CHECK(compared > 150);
  }
}

void check_row(const RowUnderTest& row) {
  CAPTURE(std::string(row.row->name));
  constexpr std::int64_t count = 83;
  std::vector<std::vector<double>> values;
  std::vector<Tensor> leaves;
  std::vector<Operand> operands;
  for (std::size_t k = 0; k < row.row->input_count; ++k) {
    values.push_back(random_inputs(row, k, count));
    leaves.push_back(input_tensor(row, k, values[k]));
    if (row.row->has_derivative(k)) leaves.back().requires_grad_();
  }
  for (const Tensor& leaf : leaves) operands.emplace_back(leaf);
  // f32 rounds the numbers.
  reference::Elementwise rounded = *row.reference;
  for (double& number : rounded.scalars) number = static_cast<float>(number);
  const RowUnderTest exact{row.row, &rounded};
  const std::vector<Scalar> scalars(rounded.scalars.begin(), rounded.scalars.end());

  const Tensor y = ops::pointwise(*row.row, operands, scalars);
  check_close(y, {count}, expected_values(exact, values, y.dtype()), rounding);
  const Tensor recorded = autograd::pointwise(*row.row, operands, scalars);
  CHECK(recorded.requires_grad() == !row.row->is_predicate());
  if (row.row->is_predicate()) return;
  const std::vector<double> dy = random_values(99, count);
  recorded.backward(tensor_of(dy, {count}));
  for (std::size_t k = 0; k < row.row->input_count; ++k) {
    CAPTURE(k);
    if (!row.row->has_derivative(k)) continue;
    const std::vector<double> expected = expected_derivatives(exact, k, dy, values);
    check_close(ops::pointwise_backward(*row.row, k, tensor_of(dy, {count}), operands, y, scalars), {count}, expected,
                rounding);
    check_close(leaves[k].grad(), {count}, expected, rounding);
  }
}

bool check_each(const Tensor& actual, const std::vector<double>& expected, double factor) {
  const std::vector<double> values = values_of(actual);
  REQUIRE(values.size() == expected.size());
  const double unit = epsilon_of(actual.dtype());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double a = values[i], e = expected[i];
    if (a == e || (std::isnan(a) && std::isnan(e)) || std::abs(a - e) <= factor * unit * std::max(1.0, std::abs(e)))
      continue;
    CHECK_MESSAGE(false, "element " << i << " is " << a << ", expected " << e);
    return false;
  }
  return true;
}

}  // namespace crisol::testing
