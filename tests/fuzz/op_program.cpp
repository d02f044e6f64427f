#include "op_program.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "program.h"

namespace crisol::fuzz {

namespace {

constexpr DType dtypes[] = {DType::f32, DType::f16, DType::i32, DType::i64, DType::u8, DType::boolean};

// So small that every dtype computes exactly.
constexpr double largest_value = 16;
constexpr std::int64_t max_elements = 96;
constexpr std::size_t max_values = 6;

Tensor tensor_of(const Model& model) {
  const std::vector<double> values = model.values();
  std::vector<float> floats(values.begin(), values.end());
  return from_vector(floats, model.shape).to(model.dtype);
}

Value first_value(ByteReader& in) {
  const DType dtype = dtypes[in.below(6)];
  Shape shape;
  const int rank = in.below(5);
  for (int i = 0; i < rank; ++i) {
    const int size = in.below(6);
    if (shape.numel() * size <= max_elements) shape.push_back(size);
  }
  std::vector<double> values;
  const int start = in.byte();
  for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<double>((i * 5 + start) % 11));
  const Model model = make_model(values, shape, dtype);
  return {tensor_of(model), model};
}

}  // namespace

Program::Program(const std::uint8_t* bytes, std::size_t count) : in(bytes, count) {
  for (int i = 0; i < 2; ++i) {
    values_.push_back(first_value(in));
    steps_ += concat("value: ", text_of(values_.back()), '\n');
  }
}

void Program::keep(Value value) {
  const std::vector<double> values = value.model.values();
  if (values.size() > static_cast<std::size_t>(max_elements)) return;
  for (const double v : values)
    if (!(std::abs(v) <= largest_value)) return;
  if (values_.size() < max_values) {
    values_.push_back(std::move(value));
    return;
  }
  values_[next_] = std::move(value);
  next_ = (next_ + 1) % max_values;
}

void Program::check_all() {
  for (const Value& value : values_)
    if (const std::string wrong = difference(value.tensor, value.model); !wrong.empty())
      fail(concat("a value is wrong after this: ", text_of(value), ": ", wrong));
}

void Program::fail(const std::string& finding) const { throw std::runtime_error(steps_ + finding); }

void run_op_program(const std::uint8_t* bytes, std::size_t count) {
  constexpr int max_steps = 12;
  Program program(bytes, count);
  std::vector<Step> steps = view_steps();
  // View steps count twice, because views create strides.
  steps.insert(steps.end(), view_steps().begin(), view_steps().end());
  for (const auto* more : {&compute_steps(), &window_steps()}) steps.insert(steps.end(), more->begin(), more->end());
  for (int i = 0; i < max_steps && !program.in.done(); ++i)
    steps[static_cast<std::size_t>(program.in.below(static_cast<int>(steps.size())))](program);
  program.check_all();
}

}  // namespace crisol::fuzz
