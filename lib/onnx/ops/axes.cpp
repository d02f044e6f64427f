#include "onnx/ops/axes.h"

#include "base/text.h"

namespace crisol::onnx {

int axis_of(std::int64_t axis, int rank) {
  require(axis >= -rank && axis < rank, "onnx", "axis ", axis, " of ", rank, " axes");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void check_axis(std::int64_t axis, std::optional<int> rank) {
  if (rank) axis_of(axis, *rank);
}

bool has_input(const graph::Data& in, std::size_t i) { return i < in.size() && in[i].defined(); }

Tensor input_of(const graph::Data& in, std::size_t i, Device device) {
  return i < in.size() ? in[i].tensor(device) : Tensor();
}

std::int64_t number_of(const graph::Datum& input, const char* what) {
  const Numbers numbers = input.numbers();
  require(numbers.size() == 1, "onnx", what, " has ", numbers.size(), " numbers, 1 expected");
  return numbers[0];
}

std::vector<double> reals_of(const graph::Datum& input, Device device) {
  const std::vector<float> numbers = input.tensor(device).to(DType::f32).to_vector<float>();
  return {numbers.begin(), numbers.end()};
}

Axes::Axes(Call& call, std::int64_t input_since) : is_input(call.version() >= input_since) {
  call.check_counts(1, is_input ? 2 : 1);
  if (!is_input) numbers = call.integers("axes");
}

Numbers Axes::of(const graph::Data& in) const {
  if (!is_input) return numbers;
  return has_input(in, 1) ? in[1].numbers() : Numbers();
}

}  // namespace crisol::onnx
