// Steps with sliding windows: conv2d and max_pool2d on images, conv3d and max_pool3d on volumes, with any strides.
#include <algorithm>

#include "crisol/functions/pool.h"
#include "crisol/ops/conv.h"
#include "crisol/ops/pool.h"
#include "crisol/ops/view.h"
#include "program.h"
#include "reference/images/conv2d.h"
#include "reference/images/pool.h"

namespace crisol::fuzz {

namespace {

constexpr int most = 8;  // Largest number for the references.

bool all_small(std::initializer_list<IntPair> pairs) {
  return std::all_of(pairs.begin(), pairs.end(), [](IntPair p) { return std::max(p.h, p.w) <= most; });
}

IntTriple triple(Program& program, int low, int high) {
  return {program.in.below(high - low + 1) + low, program.in.below(high - low + 1) + low,
          program.in.below(high - low + 1) + low};
}

IntPair pair(Program& program, int low, int high) {
  return {program.in.small_number(low, high), program.in.small_number(low, high)};
}

// A batch of images or volumes. The channels may be the last axis in memory.
Value batch(Program& program, int spatial_axes, int max_channels, int max_side) {
  Shape shape{program.in.below(2) + 1, program.in.below(max_channels) + 1};
  for (int i = 0; i < spatial_axes; ++i) shape.push_back(program.in.below(max_side) + 1);
  const bool channels_last = program.in.flag();
  const int start = program.in.byte();
  Shape in_memory = shape, to_first{0, spatial_axes + 1};
  if (channels_last) {
    in_memory.erase(1);
    in_memory.push_back(shape[1]);
  }
  for (int i = 1; i <= spatial_axes; ++i) to_first.push_back(i);
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<float>((i * 5 + start) % 7));
  Tensor tensor = from_vector(values, in_memory);
  Model model = make_model({values.begin(), values.end()}, in_memory, DType::f32);
  if (channels_last) {
    tensor = ops::permute(tensor, to_first);
    model = view_of(model, shape, [](Shape i) {
      i.push_back(i[1]);
      i.erase(1);
      return i;
    });
  }
  return {tensor, model};
}

// Whether a window fits along an axis.
bool fits(std::int64_t size, std::int64_t kernel, int stride, int padding, int dilation) {
  return stride > 0 && padding >= 0 && dilation > 0 && size + 2 * padding >= dilation * (kernel - 1) + 1;
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
  const Value x = batch(program, 2, 4, 6), weight = batch(program, 2, 4, 3);
  Conv2dOptions options{pair(program, 0, 3), {program.in.below(4) - 1, program.in.below(4) - 1}, pair(program, 0, 2)};
  options.groups = program.in.small_number(0, 3);
  const Shape &in = x.model.shape, &w = weight.model.shape;
  const std::string step =
      concat("conv2d ", text_of(x), " weight ", text_of(weight), " stride ", options.stride, " padding ",
             options.padding, " dilation ", options.dilation, " groups ", options.groups);
  const auto call = [&] { return ops::conv2d(x.tensor, weight.tensor, Tensor(), options); };
  if (!all_small({options.stride, options.dilation, options.groups})) return check_survival(program, step, call);

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
  const Value x = batch(program, 2, 3, 7);
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

void conv3d(Program& program) {
  const Value x = batch(program, 3, 3, 5), weight = batch(program, 3, 3, 3);
  const Conv3dOptions o{triple(program, 0, 3), triple(program, -1, 2), triple(program, 0, 2), program.in.below(3)};
  const Shape &in = x.model.shape, &w = weight.model.shape;
  const std::string step = concat("conv3d ", text_of(x), " weight ", text_of(weight), " stride ", o.stride, " padding ",
                                  o.padding, " dilation ", o.dilation, " groups ", o.groups);
  const bool valid = o.groups > 0 && in[1] % o.groups == 0 && w[0] % o.groups == 0 && w[1] == in[1] / o.groups &&
                     fits(in[2], w[2], o.stride.d, o.padding.d, o.dilation.d) &&
                     fits(in[3], w[3], o.stride.h, o.padding.h, o.dilation.h) &&
                     fits(in[4], w[4], o.stride.w, o.padding.w, o.dilation.w);
  std::optional<Model> expected;
  if (valid)
    expected = make_model(reference::conv3d(x.model.values(), in, weight.model.values(), w, {}, o),
                          reference::conv3d_shape(in, w, o), DType::f32);
  program.check(step, expected, [&] { return ops::conv3d(x.tensor, weight.tensor, Tensor(), o); });
}

void max_pool3d(Program& program) {
  const Value x = batch(program, 3, 3, 5);
  const MaxPool3dOptions o{triple(program, 0, 3), triple(program, 0, 3), triple(program, -1, 1), triple(program, 0, 2),
                           program.in.flag()};
  const std::string step = concat("max_pool3d ", text_of(x), " kernel ", o.kernel, " stride ", o.stride, " padding ",
                                  o.padding, " dilation ", o.dilation, o.ceil_mode ? " ceil" : "");
  const IntTriple stride = o.stride == IntTriple(0) ? o.kernel : o.stride;
  const Shape& in = x.model.shape;
  const auto pools = [](std::int64_t size, int kernel, int along, int padding, int dilation) {
    return kernel > 0 && 2 * padding <= kernel && fits(size, kernel, along, padding, dilation);
  };
  std::optional<Model> expected;
  if (pools(in[2], o.kernel.d, stride.d, o.padding.d, o.dilation.d) &&
      pools(in[3], o.kernel.h, stride.h, o.padding.h, o.dilation.h) &&
      pools(in[4], o.kernel.w, stride.w, o.padding.w, o.dilation.w)) {
    const reference::MaxPool pooled = reference::max_pool3d(x.model.values(), in, o);
    // A window without an element of x has no largest element.
    if (*std::min_element(pooled.indices.begin(), pooled.indices.end()) >= 0)
      expected = make_model(pooled.values, pooled.shape, DType::f32);
  }
  program.check(step, expected, [&] { return max_pool3d(x.tensor, o); });
}

}  // namespace

const std::vector<Step>& window_steps() {
  static const std::vector<Step> steps{conv2d, max_pool2d, conv3d, max_pool3d};
  return steps;
}

}  // namespace crisol::fuzz
