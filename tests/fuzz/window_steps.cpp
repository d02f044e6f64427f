// Steps with sliding windows: conv2d and max_pool2d on images with any strides.
#include <algorithm>

#include "crisol/ops/conv.h"
#include "crisol/ops/pool.h"
#include "crisol/ops/view.h"
#include "program.h"
#include "reference/conv2d.h"
#include "reference/pool.h"

namespace crisol::fuzz {

namespace {

constexpr int most = 8;  // Largest number for the references.

bool all_small(std::initializer_list<IntPair> pairs) {
  return std::all_of(pairs.begin(), pairs.end(), [](IntPair p) { return std::max(p.h, p.w) <= most; });
}

IntPair pair(Program& program, int low, int high) {
  return {program.in.small_number(low, high), program.in.small_number(low, high)};
}

// An image batch in NCHW or NHWC order in memory.
Value images(Program& program, int most_channels, int most_side) {
  const Shape shape{program.in.below(2) + 1, program.in.below(most_channels) + 1, program.in.below(most_side) + 1,
                    program.in.below(most_side) + 1};
  const bool channels_last = program.in.flag();
  const int start = program.in.byte();
  const Shape in_memory = channels_last ? Shape{shape[0], shape[2], shape[3], shape[1]} : shape;
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<float>((i * 5 + start) % 7));
  Tensor tensor = from_vector(values, in_memory);
  Model model = make_model({values.begin(), values.end()}, in_memory, DType::f32);
  if (channels_last) {
    tensor = ops::permute(tensor, {0, 3, 1, 2});
    model = view_of(model, shape, [](const Shape& i) { return Shape{i[0], i[2], i[3], i[1]}; });
  }
  return {tensor, model};
}

// The numbers are too large for the references, so any result or refusal is accepted.
template <class Call>
void check_survival(Program& program, const std::string& step, Call&& call) {
  program.say(step);
  try {
    call();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) program.fail(error.what());
  }
}

void conv2d(Program& program) {
  const Value x = images(program, 4, 6), weight = images(program, 4, 3);
  Conv2dOptions options{pair(program, 0, 3), {program.in.below(4) - 1, program.in.below(4) - 1}, pair(program, 0, 2)};
  options.groups = program.in.small_number(0, 3);
  const Shape &in = x.model.shape, &w = weight.model.shape;
  const std::string step =
      concat("conv2d ", text_of(x), " weight ", text_of(weight), " stride ", options.stride, " padding ",
             options.padding, " dilation ", options.dilation, " groups ", options.groups);
  const auto call = [&] { return ops::conv2d(x.tensor, weight.tensor, Tensor(), options); };
  if (!all_small({options.stride, options.dilation, options.groups})) return check_survival(program, step, call);

  const auto fits = [](std::int64_t size, std::int64_t kernel, int stride, int padding, int dilation) {
    return stride > 0 && padding >= 0 && dilation > 0 && size + 2 * padding >= dilation * (kernel - 1) + 1;
  };
  const bool valid = options.groups > 0 && in[1] % options.groups == 0 && w[0] % options.groups == 0 &&
                     w[1] == in[1] / options.groups &&
                     fits(in[2], w[2], options.stride.h, options.padding.h, options.dilation.h) &&
                     fits(in[3], w[3], options.stride.w, options.padding.w, options.dilation.w);
  std::optional<Model> expected;
  if (valid)
    expected = make_model(reference::conv2d(x.model.values(), in, weight.model.values(), w, {}, options),
                          reference::conv2d_shape(in, w, options), DType::f32);
  program.check(step, expected, call);
}

void max_pool2d(Program& program) {
  const Value x = images(program, 3, 7);
  MaxPool2dOptions options{pair(program, 0, 3), pair(program, 0, 3), pair(program, -1, 1), pair(program, 0, 2)};
  options.ceil_mode = program.in.flag();
  const std::string step =
      concat("max_pool2d ", text_of(x), " kernel ", options.kernel, " stride ", options.stride, " padding ",
             options.padding, " dilation ", options.dilation, options.ceil_mode ? " ceil" : "");
  const auto call = [&] { return ops::max_pool2d(x.tensor, options).values; };
  if (!all_small({options.kernel, options.stride, options.padding, options.dilation})) {
    // A window of 2^31 elements with as much padding would be valid, but takes too long.
    if (all_small({options.kernel}) || all_small({options.padding})) check_survival(program, step, call);
    return;
  }
  const IntPair stride = options.stride == IntPair(0) ? options.kernel : options.stride;
  const auto fits = [](int kernel, int along, int padding, int dilation) {
    return kernel > 0 && along > 0 && dilation > 0 && padding >= 0 && 2 * padding <= kernel;
  };
  std::optional<Model> expected;
  if (fits(options.kernel.h, stride.h, options.padding.h, options.dilation.h) &&
      fits(options.kernel.w, stride.w, options.padding.w, options.dilation.w)) {
    const reference::MaxPool pooled = reference::max_pool2d(x.model.values(), x.model.shape, options);
    // A window without an element of x has no largest element.
    if (pooled.shape.numel() > 0 && *std::min_element(pooled.indices.begin(), pooled.indices.end()) >= 0)
      expected = make_model(pooled.values, pooled.shape, DType::f32);
  }
  program.check(step, expected, call);
}

}  // namespace

const std::vector<Step>& window_steps() {
  static const std::vector<Step> steps{conv2d, max_pool2d};
  return steps;
}

}  // namespace crisol::fuzz
