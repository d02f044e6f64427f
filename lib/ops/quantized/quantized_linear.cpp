#include <algorithm>
#include <array>

#include "base/ceil_div.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/pad.h"
#include "crisol/ops/quantized.h"
#include "crisol/ops/view.h"
#include "dispatch/device_defines.h"
#include "dispatch/work_split.h"
#include "ops/check.h"
#include "ops/contiguous.h"
#include "ops/probe/shuffle.h"
#include "ops/product/gemm.h"
#include "ops/quantized/byte_products.h"
#include "ops/quantized/quantized.h"
#include "ops/result.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

// Kernels that read the codes themselves take so many rows of x at the most.
constexpr std::int64_t most_rows = 8;

// The rows of x that a kernel computes: 1, 2, 4 or 8.
std::int64_t inputs_of(const QuantizedProblem& p) {
  std::int64_t inputs = 1;
  while (inputs < p.m) inputs *= 2;
  return inputs;
}

void define_zeros(runtime::Defines& defines, const QuantizedProblem& p) {
  if (p.has_zeros != 0) defines.add({"HAS_ZEROS", 1});
}

// Groups that share a scale, for kernels: -1 if all groups of a row do, and 0 if a group has two scales.
std::int64_t groups_of_block(const QuantizedProblem& p) { return p.blocks == 1 ? -1 : p.block / group_columns; }

// The plan of a kernel for CPUs, whose work-items arrange x in their own slices of a workspace. A slice has so many
// numbers of 32 bits, and a row of the weight so many vectors.
Plan plan_arranged(const QuantizedProblem& p, const Target& target, runtime::KernelSpec spec, std::int64_t vectors,
                   std::int64_t slice) {
  const auto [x, codes, scales, zeros, bias, y] = operands<6>();
  define_zeros(spec.defines, p);
  define_math(spec.defines, target.info);
  const runtime::NdRange range = persistent_range(target, p.n, vectors);
  Plan plan;
  const Place scratch = plan.workspace(4 * range.global[0] * static_cast<std::uint64_t>(slice));
  plan.add(spec, range, x, codes, scales, zeros, bias, y, scratch, p.parameters(p.n));
  return plan;
}

PlanOr plan_rows_cpu(const QuantizedProblem& p, const Target& target, std::size_t) {
  if (p.m > most_rows) return "more than 8 rows";
  // A vector of the kernel has 8 or 16 words of 32 bits, which are sides of 128 bits.
  const std::int64_t sides = p.columns() * p.bits / 128;
  if (sides < 2) return "a row of the weight is shorter than a vector";
  const std::int64_t words = target.cpu_vector_width() == 16 && sides >= 4 ? 16 : 8;
  const std::int64_t inputs = inputs_of(p), vectors = ceil_div(4 * sides, words);
  if (words / 4 * inputs * vectors > target.loop_budget) return "too deep for the device's loops";
  const runtime::KernelSpec spec{
      "quantized/quantized_rows_cpu.cl",
      "quantized_rows_cpu",
      {{"BITS", p.bits}, {"INPUTS", inputs}, {"WORDS", words}, {"GROUPS_OF_BLOCK", groups_of_block(p)}}};
  return plan_arranged(p, target, spec, vectors, inputs * vectors * ARRANGED_FLOATS(words, p.bits, groups_of_block(p)));
}

// A vector of the kernel has 64 bytes of codes, whose sides are 16 bytes.
PlanOr plan_bytes(const QuantizedProblem& p, const Target& target, bool with_gfni) {
  if (p.m > 1) return "more than one row";
  if (p.byte_products == 0) return "no instruction that multiplies bytes";
  const std::int64_t columns_of_vector = 512 / p.bits, vectors = p.columns() / columns_of_vector;
  if (p.columns() % columns_of_vector != 0) return "a row of the weight has a part of a vector";
  if (p.blocks > 1) {
    if (p.bits == 4 && p.block < group_columns) return "a side of a vector has two scales";
    if (p.block % columns_of_vector != 0 && columns_of_vector % p.block != 0) return "a block has a part of a vector";
    if (p.columns() % p.block != 0) return "the last block is shorter";
  }
  if (4 * vectors > target.loop_budget) return "too deep for the device's loops";
  runtime::KernelSpec spec{"quantized/quantized_row_cpu.cl",
                           "quantized_row_cpu",
                           {{"BITS", p.bits}, {"GROUPS_OF_BLOCK", groups_of_block(p)}}};
  if (with_gfni) spec.defines.add({"GFNI", 1});
  return plan_arranged(p, target, spec, vectors, ARRANGED_INTS(p.bits, vectors, p.blocks));
}

PlanOr plan_bytes_cpu(const QuantizedProblem& p, const Target& target, std::size_t) {
  return plan_bytes(p, target, false);
}

PlanOr plan_bytes_gfni_cpu(const QuantizedProblem& p, const Target& target, std::size_t) {
  if (p.byte_products < 2) return "no GFNI and AVX-512 VBMI2";
  if (p.bits == 8) return "they are for codes of 4 bits";
  return plan_bytes(p, target, true);
}

PlanOr plan_rows_group(const QuantizedProblem& p, const Target& target, std::size_t) {
  if (p.m > most_rows) return "more than 8 rows";
  const auto [x, codes, scales, zeros, bias, y] = operands<6>();
  const std::int64_t inputs = inputs_of(p), outputs = std::max<std::int64_t>(1, 4 / inputs);
  const std::int64_t group = std::min<std::int64_t>(64, static_cast<std::int64_t>(target.info.max_work_group));
  if (group != 64) return "work-groups are smaller than 64";
  runtime::KernelSpec spec{"quantized/quantized_rows.cl",
                           "quantized_rows",
                           {{"BITS", p.bits}, {"INPUTS", inputs}, {"OUTPUTS", outputs}, {"GROUP", group}}};
  define_zeros(spec.defines, p);
  add_shuffle_define(spec.defines, target, group);
  Plan plan;
  plan.add(spec, {{ceil_div(p.n, outputs) * group}, {group}}, x, codes, scales, zeros, bias, y, p.parameters(p.n));
  return plan;
}

// The rows of the weight that a plan decodes at once. All of the weight is never in memory as floats.
std::int64_t rows_at_once(const QuantizedProblem& p, const Target& target) {
  constexpr std::int64_t usual_bytes = std::int64_t{1} << 22, most_pieces = 16, multiple = 16;
  const std::int64_t usual = std::max(usual_bytes / (4 * p.columns()), ceil_div(p.n, most_pieces));
  const std::int64_t allowed = target.bytes_at_once(4 * usual * p.columns()) / (4 * p.columns());
  return std::min(p.n, std::max(multiple, allowed / multiple * multiple));
}

// Decodes a few rows of the weight at a time, and multiplies with them.
PlanOr plan_pieces(const QuantizedProblem& p, const Target& target, std::size_t) {
  const auto [x, codes, scales, zeros, bias, y] = operands<6>();
  const std::int64_t at_once = rows_at_once(p, target), k = p.columns();
  Plan plan;
  const Place weight = plan.workspace(4 * static_cast<std::uint64_t>(at_once * k));
  for (std::int64_t first = 0; first < p.n; first += at_once) {
    const std::int64_t rows = std::min(at_once, p.n - first);
    const DequantizeLaunch decode = dequantize_launch(p, target, rows);
    const Place of_zeros = p.has_zeros != 0 ? zeros.offset_by(first * p.blocks) : zeros;
    plan.add(decode.spec, decode.range, codes.offset_by(first * p.bytes_of_row()), scales.offset_by(first * p.blocks),
             of_zeros, weight, p.parameters(rows), decode.chunk);
    const Choice product = choose_gemm({.m = p.m,
                                        .n = rows,
                                        .k = k,
                                        .a = {k, 1, 0, p.x_offset},
                                        .b = {1, k},
                                        .c = {p.n, 1, 0, (p.y_offset + first) % 4},
                                        .flags = p.has_bias != 0 ? bias_per_column : 0,
                                        .context = {p.precision}},
                                       target);
    plan.append_sharing(product.plan,
                        std::array{x, weight, y.offset_by(first), p.has_bias != 0 ? bias.offset_by(first) : x, x, x});
  }
  return plan;
}

constexpr Variant<QuantizedProblem> quantized_variants[] = {
    {"cpu_bytes_gfni", DeviceClass::cpu, plan_bytes_gfni_cpu},
    {"cpu_bytes", DeviceClass::cpu, plan_bytes_cpu},
    {"cpu_rows", DeviceClass::cpu, plan_rows_cpu},
    {"rows", DeviceClass::gpu, plan_rows_group},
    {"pieces", DeviceClass::any, plan_pieces, nullptr, false, 1, false, true}};
const Table<QuantizedProblem> quantized_table("quantized_linear", quantized_variants);

// Kernels read 16 bytes of codes at once, so codes begin at a multiple of 16.
Tensor aligned(const Tensor& codes) {
  return in(codes).offset % 16 == 0 && codes.is_contiguous() ? codes : clone(codes);
}

}  // namespace

DequantizeLaunch dequantize_launch(const QuantizedProblem& p, const Target& target, std::int64_t rows) {
  const WorkSplit split = split_for(target, rows * p.groups, 128, 1, 1);
  runtime::KernelSpec spec{"quantized/dequantize.cl", "dequantize", {{"BITS", p.bits}}};
  define_zeros(spec.defines, p);
  return {spec, range_of(target, split.items), split.chunk};
}

QuantizedProblem quantized_problem(const QuantizedWeight& weight, std::int64_t m) {
  const std::int64_t groups = weight.codes().size(1) / (4 * weight.bits());
  return {.m = m,
          .n = weight.rows(),
          .groups = groups,
          .blocks = weight.scales().size(1),
          .block = weight.block() == 0 ? groups * group_columns : weight.block(),
          .bits = weight.bits(),
          .has_zeros = weight.zero_points().defined() ? 1 : 0,
          .has_bias = 0,
          .byte_products = 0,
          .precision = product_context().precision,
          .x_offset = 0,
          .y_offset = 0};
}

Tensor quantized_linear(const Tensor& x, const QuantizedWeight& weight, const Tensor& bias) {
  const char* const op = quantized_table.op;
  require(weight.defined(), op, "the weight is undefined");
  require(x.defined(), op, "the input is undefined");
  require(computes_in_f32(x.dtype()), op, "the input must be ", TypesThat{computes_in_f32}, ", it is ", x.dtype());
  require(x.dim() >= 1 && x.size(-1) == weight.columns(), op, "the input has shape ", x.shape(), ", the weight takes ",
          weight.columns(), " columns");
  require_device(op, "the input", x, "the weight", weight.codes());
  const std::int64_t n = weight.rows(), k = weight.columns(), padded = quantized_problem(weight, 1).columns();
  if (bias.defined()) require_operand(op, "the input", x, "the bias", bias, {n}, x.dtype());
  Shape shape = x.shape();
  shape[shape.rank() - 1] = n;
  Result result(op, nullptr, shape, x.dtype(), x.device(), {}, Result::Layout::row_major, DType::f32);
  if (result.place().numel() == 0) return result.done();
  const Tensor wide = padded == k ? x : pad(x, {{0, padded - k}});
  const Contiguous rows(wide, DType::f32), shift = bias.defined() ? Contiguous(bias, DType::f32) : Contiguous();
  const Tensor codes = aligned(weight.codes());
  const Tensor &scales = weight.scales(), &zeros = weight.zero_points();
  QuantizedProblem p = quantized_problem(weight, result.place().numel() / n);
  p.has_bias = bias.defined() ? 1 : 0;
  if (p.m == 1) {
    const std::string found = found_byte_products(state_of(x)).found;
    p.byte_products = found == "vpdpbusd_gfni" ? 2 : found == "vpdpbusd" ? 1 : 0;
  }
  p.x_offset = static_cast<std::int64_t>(in(rows.layout()).offset % 4);
  p.y_offset = static_cast<std::int64_t>(in(result.place()).offset % 4);
  const PreparedPtr prepared = prepare(quantized_table, p, state_of(x));
  // Kernels do not read the buffers that take the places of zero points and bias.
  launch(*prepared, {in(rows), in(codes), in(scales), zeros.defined() ? OperandView(in(zeros)) : OperandView(in(codes)),
                     bias.defined() ? OperandView(in(shift)) : OperandView(in(rows)), out(result)});
  return result.done();
}

Tensor dequantize(const QuantizedWeight& weight) {
  require(weight.defined(), "dequantize", "the weight is undefined");
  const QuantizedProblem p = quantized_problem(weight, 1);
  const Tensor y = empty({p.n, p.columns()}, DType::f32, weight.codes().device());
  if (y.numel() == 0) return y;
  runtime::DeviceState& device = state_of(y);
  const Tensor codes = aligned(weight.codes());
  const DequantizeLaunch decode = dequantize_launch(p, target_of(device), p.n);
  const auto [from, scales, zeros, to] = operands<4>();
  Plan plan;
  plan.add(decode.spec, decode.range, from, scales, zeros, to, p.parameters(p.n), decode.chunk);
  launch(*prepare(std::move(plan), device),
         {in(codes), in(weight.scales()), in(weight.zero_points().defined() ? weight.zero_points() : codes), out(y)});
  return weight.columns() == p.columns() ? y : clone(narrow(y, 1, 0, weight.columns()));
}

}  // namespace crisol::ops
