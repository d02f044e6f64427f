// The variants of reductions, and their plans: a kernel over all parts and, if there are several parts, a kernel that
// joins them.
#include <algorithm>
#include <limits>

#include "base/ceil_div.h"
#include "ops/pointwise/pointwise_source.h"
#include "ops/probe/shuffle.h"
#include "ops/reduce/reduce_cut.h"
#include "ops/reduce/reduce_problem.h"
#include "tensor/kernel_args.h"

namespace crisol::ops {

using namespace dispatch;

namespace {

Shape shape_of(const AxisList& axes) { return {axes.data(), axes.size()}; }

int vector_width(const Target& target, const Cut& cut) { return cut.on_gpu() ? gpu_width : target.cpu_vector_width(); }

runtime::KernelSpec spec_of(const ReduceProblem& p, const Target& target, const Cut& cut, const char* entry,
                            std::string_view prelude) {
  const DType type = p.type(), computed = p.computed();
  runtime::KernelSpec spec{cut.source, entry, {}, prelude};
  runtime::Defines& defines = spec.defines;
  defines.add({"KIND", p.combine});
  defines.add({"TYPE", memory_type(type)});
  defines.add({"S", memory_type(computed)});
  defines.add({"OUT", memory_type(p.result())});
  if (!is_floating(computed)) defines.add({"INTEGER", 1});
  if (kind_of(computed) == DTypeKind::unsigned_integer) defines.add({"UNSIGNED", 1});
  if (size_of(computed) == 8) defines.add({"WIDE", 1});
  if (type == computed) defines.add({"TYPE_IS_S", 1});
  if (p.result() == computed) defines.add({"OUT_IS_S", 1});
  defines.add({"MAP", interned(static_cast<std::uint32_t>(p.map))});
  defines.add({"FINISH", interned(static_cast<std::uint32_t>(p.finish))});
  defines.add({"VW", vector_width(target, cut)});
  if (!cut.on_gpu()) {
    defines.add({"STRIP", strip_vectors(target)});
    return spec;
  }
  defines.add({"SPAN", cut.span});
  defines.add({"ROWS", cut.rows});
  defines.add({"FORM", static_cast<int>(cut.vectors)});
  if (cut.vectors != Vectors::scalars) defines.add({"WHOLE_VECTORS", 1});
  defines.add({"RUNS", std::min<std::int64_t>(p.loop.reduced_rank, 3)});
  if (p.loop.elements > std::numeric_limits<std::int32_t>::max() / 2) defines.add({"INDEX", "long"});
  // Not for moments and exponentials: in sub-groups of 16 their vectors take more registers than Intel's work-items
  // have.
  if (p.kind() != Combine::moments && p.kind() != Combine::log_sum_exp) add_shuffle_define(defines, target, cut.span);
  return spec;
}

/// The number of outputs for a work-item of the CPU kernel that joins parts.
std::int64_t outputs_of_join(const Target& target, const Cut& cut) {
  return std::max<std::int64_t>(1, std::min<std::int64_t>(32768, target.loop_budget / 2) / cut.parts);
}

runtime::NdRange range_of_join(const ReduceProblem& p, const Target& target, const Cut& cut) {
  const std::int64_t outputs = p.loop.outputs;
  if (!cut.on_gpu()) return {{ceil_div(outputs, outputs_of_join(target, cut))}, {1}};
  if (cut.joined_by_items) return target.flat_range(outputs);
  return {{ceil_div(outputs, cut.rows) * cut.span, cut.rows}, {cut.span, cut.rows}};
}

/// The argument `sizes` of the kernels.
Shape sizes_of(const ReduceProblem& p, std::int64_t split_a, std::int64_t split_b) {
  return {p.loop.kept_rank, p.loop.reduced_rank, p.loop.outputs, p.loop.elements, split_a,
          split_b,          p.source.end,        p.parameter};
}

/// The arguments before the axes, for elements of a graph: see ReduceSource.
ArgList source_of_graph(const ReduceSource& source) {
  ArgList args;
  std::uint8_t scalar = 0;
  for (int input = 0; input < source.inputs; ++input) {
    args.emplace_back(operand(input));
    args.emplace_back(CallScalar{scalar++});
    args.emplace_back(CallScalar{scalar++});
  }
  for (std::int64_t i = 0; i < source.scalars; ++i) args.emplace_back(CallScalar{scalar++});
  return args;
}

/// The arguments for the results: values, and positions if the reduction finds them.
ArgList results_of(const ReduceProblem& p, Place values, Place positions) {
  ArgList results{values};
  if (finds_positions(p.kind())) results.emplace_back(positions);
  return results;
}

Plan plan_of(const ReduceProblem& p, const Target& target, const Cut& cut) {
  const int inputs = static_cast<int>(p.source.inputs);
  const ArgList results = results_of(p, operand(inputs), operand(inputs + 1));
  Plan plan;
  ArgList states = results;
  if (cut.parts > 1) {
    const auto count = static_cast<std::uint64_t>(cut.parts * p.loop.outputs);
    const auto components_of_state = static_cast<std::uint64_t>(components(p.kind()));
    const Place values = plan.workspace(size_of(p.computed()) * components_of_state * count);
    states = results_of(p, values, finds_positions(p.kind()) ? plan.workspace(size_of(DType::i64) * count) : values);
  }
  const std::string prelude = graph_prelude(static_cast<std::uint32_t>(p.source.graph), vector_width(target, cut));
  const runtime::KernelSpec spec = spec_of(p, target, cut, cut.entry, prelude);
  const Shape kept = shape_of(p.loop.kept), reduced = shape_of(p.loop.reduced);
  const Shape sizes = sizes_of(p, cut.split_a, cut.split_b);
  if (p.source.graph != 0)
    plan.add(spec, cut.range, source_of_graph(p.source), kept, reduced, sizes, states);
  else
    plan.add(spec, cut.range, operand(0), shape_of(p.source.kept_strides), shape_of(p.source.reduced_strides), kept,
             reduced, sizes, states);
  if (cut.parts > 1)
    plan.add(spec_of(p, target, cut, cut.join, prelude), range_of_join(p, target, cut), states, results,
             sizes_of(p, outputs_of_join(target, cut), cut.parts));
  return plan;
}

PlanOr plan_columns(const ReduceProblem& p, const Target& target, std::size_t) {
  if (p.source.across == 0 || p.width() < 2) return "neighbouring outputs are not contiguous";
  if (p.source.along != 0 && p.loop.elements > 1) return "the reduced elements are contiguous";
  return plan_of(p, target, cut_columns(p, target));
}

PlanOr plan_rows(const ReduceProblem& p, const Target& target, std::size_t) {
  // Oclgrind 21.10 does not accept `restrict` in functions that are inlined.
  if (target.info.type != DeviceType::cpu) return "the simulator does not compile its kernel";
  return plan_of(p, target, cut_rows(p, target));
}

PlanOr plan_items(const ReduceProblem& p, const Target& target, std::size_t) {
  const bool wide = p.source.across != 0 && p.width() >= 16;
  if (p.loop.elements >= 32 && !wide) return "few neighbouring outputs are contiguous";
  return plan_of(p, target, cut_items(p, target));
}

PlanOr plan_groups(const ReduceProblem& p, const Target& target, std::size_t) {
  return plan_of(p, target, cut_groups(p, target));
}

constexpr Variant<ReduceProblem> reduce_variants[] = {{"columns", DeviceClass::cpu, plan_columns},
                                                      {"rows", DeviceClass::cpu, plan_rows},
                                                      {"items", DeviceClass::any, plan_items},
                                                      {"groups", DeviceClass::any, plan_groups}};

}  // namespace

const Table<ReduceProblem> reduce_table("reduce", reduce_variants);

}  // namespace crisol::ops
