// Convolution of sequences, computed as a convolution of images with one row.
#include <algorithm>

#include "autograd/autocast.h"
#include "autograd/call.h"
#include "base/text.h"
#include "crisol/functions/conv.h"
#include "functions/single_image.h"
#include "functions/traced/traced.h"
#include "ops/conv/conv2d_problem.h"
#include "ops/numbers.h"
#include "ops/storage.h"
#include "ops/window.h"

namespace crisol {

namespace {

constexpr const char* op = "conv1d";

/// Checks everything that conv2d would check, because conv2d's messages speak of images.
void check(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv1dOptions& o) {
  require(x.defined() && weight.defined(), op, "a tensor is undefined");
  require(x.dim() == 3, op, "the input must have 3 axes (N, C, L), its shape is ", x.shape());
  require(weight.dim() == 3, op, "the weight must have 3 axes (K, C/groups, S), its shape is ", weight.shape());
  ops::require_numbers(op, x.dtype());
  ops::require_dtype(op, "the weight", weight, x.dtype());
  ops::require_device(op, "the input", x, "the weight", weight);
  ops::require_channels(op, x.shape(), weight.shape(), o.groups);
  ops::window_count(op, "length", {x.size(2), static_cast<int>(weight.size(2)), o.stride, o.padding, o.dilation});
  if (bias.defined()) ops::require_operand(op, "the input", x, "the bias", bias, {weight.size(0)}, x.dtype());
}

Conv2dOptions for_images(const Conv1dOptions& o) {
  return {.stride = {1, o.stride}, .padding = {0, o.padding}, .dilation = {1, o.dilation}, .groups = o.groups};
}

/// Whether the epilogue computes the same if the result has one more axis before its last axis.
bool takes_axis(const Epilogue& epilogue, const Tensor& any) {
  const auto arguments = epilogue.arguments(any);
  return std::all_of(arguments.begin() + 1, arguments.end(),
                     [](const auto& a) { return a.tensor() == nullptr || a.tensor()->dim() <= 1; });
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv1dOptions& options) {
  if (const autograd::Autocasts casts("conv1d"); casts) return conv1d(casts(x), casts(weight), casts(bias), options);
  if (is_single_sequence(x)) return conv1d(x.unsqueeze(0), weight, bias, options).squeeze(0);
  check(x, weight, bias, options);
  return autograd::noted_as_one(
      [&] { return conv2d(x.unsqueeze(2), weight.unsqueeze(2), bias, for_images(options)).squeeze(2); },
      [&](Trace& trace, const Tensor& y) { traced::conv(trace, x, weight, bias, options, y); });
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv1dOptions& options,
              const Epilogue& epilogue) {
  if (const autograd::Autocasts casts("conv1d"); casts)
    return conv1d(casts(x), casts(weight), casts(bias), options, epilogue);
  if (is_single_sequence(x)) return conv1d(x.unsqueeze(0), weight, bias, options, epilogue).squeeze(0);
  check(x, weight, bias, options);
  const auto in_parts = [&] { return epilogue(conv1d(x, weight, bias, options)); };
  if (!takes_axis(epilogue, x)) return in_parts();
  return autograd::noted_in_parts(
      [&] { return conv2d(x.unsqueeze(2), weight.unsqueeze(2), bias, for_images(options), epilogue).squeeze(2); },
      in_parts);
}

}  // namespace crisol
