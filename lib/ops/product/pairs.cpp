#include "ops/product/pairs.h"

#include <algorithm>

#include "base/byte_dtype.h"
#include "base/ceil_div.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/matmul.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/view.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/collapse.h"
#include "ops/contiguous.h"
#include "ops/product/leading_axes.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using kernels::number;

namespace {

constexpr const char* of_pairs = "multiply_pairs";
constexpr std::int64_t panel = 16;

/// Whether a work-item may pack so many lines at once.
bool may_pack(const dispatch::Target& target, std::int64_t depth, std::int64_t lines) {
  return ceil_div(depth, 2) * lines <= target.loop_budget;
}

/// Where the lines of x are. Axes are counted from the last one. The axes in front of these are those of matrices.
struct Lines {
  const char* entry;  ///< Of product/pairs/pack_pairs.cl.
  int line, step;
  int run = 0;  ///< 0: a line has one run.
  std::int64_t at_once = 1;
};

/// The zero point as one number, or as one number for each line of x.
Tensor zeros_of_lines(const Tensor& x, const Tensor& zero, const Lines& by) {
  if (!zero.defined()) return zero;
  require(zero.dtype() == x.dtype(), of_pairs, "a zero point of ", zero.dtype(), " for numbers of ", x.dtype());
  if (zero.numel() == 1) return zero;
  Shape lines = x.shape();
  lines[lines.rank() + by.step] = 1;
  if (by.run != 0) lines[lines.rank() + by.run] = 1;
  require(broadcast_shape(of_pairs, zero.shape(), lines) == lines, of_pairs, "a zero point of shape ", zero.shape(),
          " for lines ", lines);
  return contiguous(zero.expand(lines));
}

Tensor pack(const Tensor& x, const Tensor& zero, const Lines& by) {
  const int axes = by.run != 0 ? 3 : 2, leading = x.dim() - axes;
  require(leading >= 0 && is_of_bytes(x.dtype()), of_pairs, "matrices of u8 or i8 expected");
  const std::int64_t lines = x.size(by.line), depth = x.size(by.step), runs = by.run != 0 ? x.size(by.run) : 1;
  const Tensor points = zeros_of_lines(x, zero, by);
  require(lines <= INT32_MAX && depth * runs < INT32_MAX, of_pairs, "matrices of shape ", x.shape(), " are too large");
  std::int64_t count = 1;
  for (int axis = 0; axis < leading; ++axis) count *= x.size(axis);
  runtime::DeviceState& device = state_of(x);
  const WordLayout words = word_layout(device, depth, runs);
  const Tensor y = by.at_once > 1
                       ? empty({count, ceil_div(lines, panel), words.panel_lines, panel}, DType::i32, x.device())
                       : empty({count, lines, words.row}, DType::i32, x.device());
  if (y.numel() == 0) return y;
  // The kernel reads up to two leading axes in any layout, such as those of attention's heads.
  const Contiguous matrices = leading <= 2 ? Contiguous::as_is(x) : Contiguous(x);
  const Shape& strides = matrices.layout().strides();
  const auto stride = [&](int axis) { return strides[x.dim() + axis]; };
  const bool has_groups = leading == 2;
  const kernels::PackPairsParameters parameters{.outer = has_groups ? strides[0] : 0,
                                                .inner = leading > 0 ? strides[leading - 1] : 0,
                                                .line = stride(by.line),
                                                .step = stride(by.step),
                                                .run = number(by.run != 0 ? stride(by.run) : 0),
                                                .count = number(count),
                                                .inner_count = number(has_groups ? x.size(1) : count),
                                                .lines = number(lines),
                                                .runs = number(runs),
                                                .depth = number(depth),
                                                .zero_step = points.defined() && points.numel() > 1 ? 1 : 0,
                                                .has_zero = points.defined() ? 1 : 0};
  const dispatch::Target target = dispatch::target_of(device);
  require(may_pack(target, depth * runs, by.at_once), of_pairs, "a depth of ", depth * runs,
          " is too large for the device's loops");
  runtime::Defines defines = number_defines(device);
  defines.add({"T", number_type(x.dtype())});
  runtime::launch(device, {"product/pairs/pack_pairs.cl", by.entry, defines},
                  dispatch::persistent_range(target, count * ceil_div(lines, by.at_once),
                                             std::max<std::int64_t>(1, words.count) * by.at_once),
                  in(matrices), points.defined() ? in(points) : runtime::BufferView(in(matrices)), out(y),
                  struct_arg(parameters));
  return y;
}

/// A defined operand of so many numbers, or of one number.
bool has_one_each(const char* name, const Tensor& x, std::int64_t lines, DType dtype) {
  require(x.dtype() == dtype && (x.numel() == 1 || x.numel() == lines), name, "an operand of ", x.dtype(),
          " and shape ", x.shape(), " for ", lines, " lines, ", dtype, " expected");
  return x.numel() > 1;
}

}  // namespace

Tensor pack_rows(const Tensor& x, const Tensor& zero) {
  require(x.defined() && x.dim() >= 2, of_pairs, "matrices expected");
  if (x.dtype() != DType::i16) return pack(x, zero, {.entry = "pack_rows", .line = -2, .step = -1});
  require(!zero.defined() && takes_centred(x.device()), of_pairs,
          "i16 without a zero point expected, on a device that multiplies pairs");
  const std::int64_t count = leading_axes(x.shape()).numel(), lines = x.size(-2), pairs = ceil_div(x.size(-1), 2);
  const Tensor numbers = contiguous(x.size(-1) % 2 == 0 ? x : pad(x, {{0, 1}}));
  return reinterpret(numbers, DType::i32, {count, lines, pairs}, {lines * pairs, pairs, 1}, numbers.offset() / 2);
}

Tensor pack_filters(const Tensor& x, const Tensor& zero) {
  require(x.defined() && x.dim() == 3, of_pairs, "filters of three axes expected");
  return pack(x, zero, {.entry = "pack_rows", .line = -3, .step = -2, .run = -1});
}

Tensor pack_panels(const Tensor& x, const Tensor& zero) {
  require(x.defined() && x.dim() >= 2, of_pairs, "matrices expected");
  return pack(x, zero, {.entry = "pack_panels", .line = -1, .step = -2, .at_once = panel});
}

ScaledArgs::ScaledArgs(const char* name, const Scaling& given, const Tensor& result, std::int64_t rows,
                       std::int64_t columns, const ResultPlaces& places, const ProductEpilogue* epilogue)
    : by(given), y(out(result)), parameters{}, scalars(epilogue_scalars(epilogue)) {
  const EpilogueLayout layout = layout_of(epilogue);
  const auto& [a, b] = layout.operands;
  e0 = epilogue_operand(epilogue, 0, y).view, e1 = epilogue_operand(epilogue, 1, y).view;
  strides = {a.row, a.column, a.batch, b.row, b.column, b.batch};
  prelude = epilogue_prelude(layout);
  parameters.flags = epilogue_flags(layout);
  const runtime::BufferView any = in(result);
  const auto view = [&](Tensor& x) {
    if (!x.defined()) return any;
    x = contiguous(x);
    return in(x);
  };
  left = view(by.left), right = view(by.right), over = view(by.over), bias = view(by.bias), zero = view(by.zero);
  parameters.row = places.row, parameters.image = places.image, parameters.width = number(places.width);
  require(by.left.defined() == by.right.defined() && (by.left.defined() || !is_of_bytes(by.result)), name,
          "a factor is missing");
  if (by.left.defined()) {
    parameters.has_factors = 1;
    parameters.left_row = has_one_each(name, by.left, rows, DType::f32) ? 1 : 0;
    parameters.right_column = has_one_each(name, by.right, columns, DType::f32) ? 1 : 0;
  }
  if (by.bias.defined()) {
    const bool is_real = is_floating(by.bias.dtype());
    require(
        by.bias.numel() == (by.bias_of_rows ? rows : columns) && by.bias.dtype() == (is_real ? by.result : DType::i32),
        name, "a bias of ", by.bias.dtype(), " and shape ", by.bias.shape());
    (by.bias_of_rows ? parameters.bias_row : parameters.bias_column) = 1;
    parameters.has_real_bias = is_real ? 1 : 0;
  }
  if (by.over.defined()) has_one_each(name, by.over, 1, DType::f32);
  if (by.zero.defined()) has_one_each(name, by.zero, 1, by.result);
  parameters.has_over = by.over.defined() ? 1 : 0;
  parameters.has_zero = by.zero.defined() ? 1 : 0;
}

Tensor multiply_pairs(const Tensor& rows, const Tensor& panels, std::int64_t n, const Scaling& by,
                      const ProductEpilogue* f) {
  const WordLayout more = word_layout(state_of(rows), 0, 1);  // Behind the words.
  const std::int64_t words = rows.dim() == 3 ? rows.size(2) - more.row : 0;
  require(rows.dim() == 3 && panels.dim() == 4 && words == panels.size(2) - more.panel_lines, of_pairs,
          "packed operands of shapes ", rows.shape(), " and ", panels.shape(), " do not fit");
  const std::int64_t batch = std::max(rows.size(0), panels.size(0)), m = rows.size(1);
  require((rows.size(0) == batch || rows.size(0) == 1) && (panels.size(0) == batch || panels.size(0) == 1), of_pairs,
          rows.size(0), " left and ", panels.size(0), " right factors do not fit");
  const Tensor y = empty({batch, m, n}, by.result, rows.device());
  if (y.numel() == 0) return y;
  constexpr std::int64_t block_bytes = 192 * 1024;
  runtime::DeviceState& device = state_of(y);
  const std::int64_t tile_rows = pair_rows(device);
  const std::int64_t fit = std::max<std::int64_t>(1, block_bytes / (4 * std::max<std::int64_t>(1, words)) / tile_rows);
  const dispatch::Target target = dispatch::target_of(device);
  const std::int64_t tiles = ceil_div(m, tile_rows), across = ceil_div(n, pair_columns(device));
  // Few panels leave the cores without work unless the rows are cut too.
  const std::int64_t wanted = std::max<std::int64_t>(8, 2 * std::int64_t{target.info.compute_units});
  const std::int64_t blocks = std::min(tiles, std::max(ceil_div(tiles, fit), ceil_div(wanted, batch * across)));
  const std::int64_t block = ceil_div(tiles, blocks) * tile_rows;
  const kernels::PairParameters parameters{.batch_a = rows.size(0) == 1 ? 0 : m * rows.size(2),
                                           .batch_b = panels.size(0) == 1 ? 0 : panels.size(1) * panels.size(2) * panel,
                                           .batch_y = m * n,
                                           .batch = number(batch),
                                           .m = number(m),
                                           .n = number(n),
                                           .words = number(words),
                                           .block = number(block),
                                           .unused = 0};
  const ScaledArgs scaled(of_pairs, by, y, m, n, {.row = n, .width = n, .image = 0}, f);
  runtime::launch(
      device,
      {"product/pairs/multiply_pairs.cl", "multiply_pairs_of", pair_defines(device, by.result, f), scaled.prelude},
      dispatch::persistent_range(target, batch * across * ceil_div(m, block), block / tile_rows * (words + 32)),
      in(rows), in(panels), scaled.y, scaled.left, scaled.right, scaled.over, scaled.bias, scaled.zero,
      struct_arg(parameters), struct_arg(scaled.parameters), scaled.e0, scaled.e1, struct_arg(scaled.strides),
      scaled.scalars);
  return y;
}

namespace {

/// The product of matrices of bytes by products of f32. A product of f32 takes so much of the depth that its sums are
/// exact.
Tensor multiply_as_floats(const Tensor& a, const Tensor& b) {
  constexpr std::int64_t exact = std::int64_t{1} << 24;  // f32 holds all whole numbers up to this one.
  const auto greatest = [](const Tensor& x) { return x.dtype() == DType::u8 ? 255 : 128; };
  const std::int64_t depth = a.size(1), block = exact / (greatest(a) * greatest(b));
  Tensor sums;
  for (std::int64_t first = 0; first < std::max<std::int64_t>(1, depth); first += block) {
    const std::int64_t count = std::min(block, depth - first);
    const Tensor part = cast(
        matmul(cast(narrow(a, 1, first, count), DType::f32), cast(narrow(b, 0, first, count), DType::f32)), DType::i32);
    if (!sums.defined())
      sums = part;
    else
      add_into(sums, sums, part);
  }
  return sums;
}

}  // namespace

Tensor matmul_of_bytes(const Tensor& a, const Tensor& b) {
  constexpr const char* name = "matmul_of_bytes";
  require(a.defined() && b.defined() && is_of_bytes(a.dtype()) && is_of_bytes(b.dtype()), name,
          "both operands must be u8 or i8");
  require(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0), name, "shapes ", a.shape(), " and ", b.shape(),
          " do not fit");
  require_device(name, "the left operand", a, "the right one", b);
  if (!prefers_pairs(a.device()) || !may_pack(dispatch::target_of(state_of(a)), a.size(1), panel))
    return multiply_as_floats(a, b);
  return reshape(multiply_pairs(pack_rows(a, {}), pack_panels(b, {}), b.size(1)), {a.size(0), b.size(1)});
}

}  // namespace crisol::ops
