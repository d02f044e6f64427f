#include "ops/conv/conv2d_separable.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "base/interned_text.h"
#include "base/text.h"
#include "crisol/ops/copy.h"
#include "dispatch/device_defines.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/storage.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

namespace {

constexpr const char* separable_op = "conv2d_separable";
constexpr std::int64_t items_of_core = 4;  ///< With several work-items, all cores end at about the same time.

constexpr Place x = operand(0), depthwise = operand(1), pointwise = operand(2), y = operand(3), shift = operand(4),
                bias = operand(5), e0 = operand(6), e1 = operand(7);

/// How the rows of y are cut.
struct SeparableBands {
  std::int64_t rows;  ///< Rows of a band.
  std::int64_t items;
};

SeparableBands bands_of(const SeparableProblem& p, const Target& target) {
  constexpr std::int64_t max_between = 1 << 14;  // In floats: a part of a small L2 cache.
  const Conv2dSizes& s = p.sizes;
  const std::int64_t wanted = ceil_div(items_of_core * target.info.compute_units, s.images);
  const std::int64_t most = max_between / (p.first().blocks() * s.out_w * p.block);
  const std::int64_t rows = std::max<std::int64_t>(1, std::min(most, s.out_h / wanted));
  return {rows, std::min(wanted, ceil_div(s.out_h, rows))};
}

/// The text of g. Its macros begin with MIDDLE instead of EPILOGUE.
std::string_view middle_prelude(const EpilogueLayout& g, std::string_view of_result) {
  constexpr std::string_view from = "EPILOGUE", to = "MIDDLE";
  std::string text(epilogue_prelude(g));
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return interned(intern(concat(text, of_result)));
}

/// The arguments of g. Its scalars are the second scalars of a call.
EpilogueArgs middle_args(const SeparableProblem& p) {
  EpilogueArgs args = epilogue_args(p.middle, x, x, x);
  if (p.middle.is_generic()) std::get<3>(args) = CallScalar{1};
  return args;
}

PlanOr plan_bands(const SeparableProblem& p, const Target& target, std::size_t) {
  const Conv2dSizes& s = p.sizes;
  if (!tiles_take(s, p.block)) return "too large an image or kernel";
  const std::int64_t columns = tile_width(s.out_w, p.tile_blocks, p.block, target);
  const SeparableBands bands = bands_of(p, target);
  runtime::KernelSpec spec{
      "conv/cpu/blocks/conv2d_blocks_separable.cl", "conv2d_blocks_separable", {{"VW", p.block}, {"T", columns}}};
  spec.prelude = middle_prelude(p.middle, epilogue_prelude(p.epilogue));
  spec.defines.add({"STRIDE", s.stride_w});
  spec.defines.add({"OB", p.tile_blocks});
  spec.defines.add({"TAPS_W", s.kernel_w});
  spec.defines.add({"DILATION_W", s.dilation_w});
  dispatch::define_math(spec.defines, target.info);
  define_elements(spec.defines, p.type);
  define_result_type(spec.defines, p.type);
  const std::int64_t between = p.first().blocks() * bands.rows * s.out_w * p.block;
  const std::int64_t slice = ceil_div(between, std::int64_t{16}) * 16;
  Plan plan;
  const Place scratch = plan.workspace(4 * static_cast<std::uint64_t>(bands.items * s.images * slice));
  plan.add(spec, {{bands.items, s.images}, {1, 1}}, x, depthwise, p.has_shift != 0 ? shift : x,
           std::get<3>(middle_args(p)), pointwise, p.has_bias != 0 ? bias : x, y, scratch,
           epilogue_args(p.epilogue, e0, e1, x),
           kernels::BlocksParameters{s.channels, s.height, s.width, p.second().blocks(), s.out_h, s.out_w},
           s.kernel_window(), kernels::number(bands.rows), slice, p.first().flags(), p.second().flags());
  return plan;
}

PlanOr plan_direct(const SeparableProblem& p, const Target& target, std::size_t) {
  const Conv2dBlocksProblem first = p.first(), second = p.second();
  Plan plan;
  const Place between =
      plan.workspace(4 * static_cast<std::uint64_t>(p.sizes.images * first.blocks() * p.sizes.pixels() * p.block));
  add_blocks_direct(plan, first, target, {x, depthwise, p.has_shift != 0 ? shift : x, between}, middle_args(p));
  add_blocks_direct(plan, second, target, {between, pointwise, p.has_bias != 0 ? bias : x, y},
                    epilogue_args(p.epilogue, e0, e1, x));
  return plan;
}

constexpr dispatch::Variant<SeparableProblem> separable_variants[] = {
    {"bands", DeviceClass::cpu, plan_bands, nullptr, true}, {"direct", DeviceClass::any, plan_direct, nullptr, true}};

SeparableProblem problem_of(const Tensor& input, const SeparableWeights& w, const Conv2dSizes& s,
                            std::int64_t outputs) {
  require_storage(separable_op, "the input", input);
  require(w.depthwise.dim() == 4 && w.pointwise.dim() == 7, separable_op,
          "the weights must have 4 and 7 axes, their shapes are ", w.depthwise.shape(), " and ", w.pointwise.shape());
  const SeparableProblem p{.sizes = s,
                           .outputs = outputs,
                           .block = w.depthwise.size(3),
                           .tile_blocks = w.pointwise.size(5),
                           .has_shift = w.shift.defined() ? 1 : 0,
                           .has_bias = w.bias.defined() ? 1 : 0,
                           .middle = {},
                           .epilogue = {},
                           .type = storage_of(input)};
  require(p.block == 4 || p.block == 8 || p.block == 16, separable_op, "a block of ", p.block,
          " channels; 4, 8 or 16 is expected");
  require_shape(separable_op, "the input", input, {s.images, p.first().blocks(), s.height, s.width, p.block});
  const auto check = [&](const char* what, const Tensor& t, const Shape& shape) {
    if (t.defined()) require_operand(separable_op, "the input", input, what, t, shape);
  };
  check("the depthwise weight", w.depthwise, {p.first().blocks(), s.kernel_h, s.kernel_w, p.block});
  check("the shift", w.shift, {p.first().blocks(), p.block});
  check("the pointwise weight", w.pointwise,
        {ceil_div(p.second().blocks(), p.tile_blocks), p.first().blocks(), 1, 1, p.block, p.tile_blocks, p.block});
  check("the bias", w.bias, {p.second().blocks(), p.block});
  return p;
}

}  // namespace

const Table<SeparableProblem> conv2d_separable_table(separable_op, separable_variants);

dispatch::ProblemKey SeparableProblem::key() const {
  const Conv2dSizes& s = sizes;
  const dispatch::ProblemKey key{
      {"n", s.images},          {"c", s.channels},  {"h", s.height},    {"w", s.width},
      {"k", outputs},           {"r", s.kernel_h},  {"s", s.kernel_w},  {"stride_h", s.stride_h},
      {"stride_w", s.stride_w}, {"pad_h", s.pad_h}, {"pad_w", s.pad_w}, {"dil_h", s.dilation_h},
      {"dil_w", s.dilation_w},  {"out_h", s.out_h}, {"out_w", s.out_w}, {"block", block}};
  return key.with_types(type);
}

Conv2dSizes pointwise_sizes(const Conv2dSizes& s, std::int64_t outputs) {
  return {.images = s.images,
          .channels = s.outputs,
          .height = s.out_h,
          .width = s.out_w,
          .outputs = outputs,
          .out_h = s.out_h,
          .out_w = s.out_w,
          .kernel_h = 1,
          .kernel_w = 1,
          .stride_h = 1,
          .stride_w = 1,
          .pad_h = 0,
          .pad_w = 0,
          .dilation_h = 1,
          .dilation_w = 1,
          .groups = 1};
}

bool separable_pays(const Conv2dSizes& s, const Target& target) {
  const std::int64_t block = channel_block(target);
  return block != 0 && tiles_take(s, block) && s.images * s.out_h >= items_of_core * target.info.compute_units;
}

ProductResult conv2d_separable(const Tensor& input, const SeparableWeights& weights, const Conv2dSizes& sizes,
                               std::int64_t outputs, const ProductEpilogue* g, const ProductEpilogue* f) {
  SeparableProblem problem = problem_of(input, weights, sizes, outputs);
  const Tensor result = empty({sizes.images, problem.second().blocks(), sizes.out_h, sizes.out_w, problem.block},
                              input.dtype(), input.device());
  if (result.numel() == 0) return {result, true};
  problem.middle = layout_of(g);
  problem.epilogue = layout_of(f);
  const Contiguous images(input), first(weights.depthwise), second(weights.pointwise), added(weights.shift),
      last(weights.bias);
  const PreparedPtr prepared = prepare(conv2d_separable_table, problem, state_of(result));
  const runtime::BufferView any = in(images.filled());
  const auto view = [&](const Contiguous& t) { return t.defined() ? in(t.filled()) : any; };
  const OperandView views[] = {any,
                               view(first),
                               view(second),
                               out(result),
                               view(added),
                               view(last),
                               epilogue_operand(f, 0, any),
                               epilogue_operand(f, 1, any)};
  launch(*prepared, views, std::array{epilogue_scalars(f), epilogue_scalars(g)});
  return {result, true};
}

}  // namespace crisol::ops
