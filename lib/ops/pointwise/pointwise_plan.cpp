#include "ops/pointwise/pointwise_plan.h"

#include "base/ceil_div.h"

#include <algorithm>
#include <limits>

#include "dispatch/work_split.h"
#include "ops/pointwise/pointwise_kernels.h"

namespace crisol::ops {

void PointwiseProblem::set_loop(const Loop& loop) noexcept {
  rank = loop.shape.rank();
  std::size_t at = 0;
  const auto write = [&](const Shape& shape) {
    for (const std::int64_t value : shape) axes[at++] = value;
  };
  write(loop.shape);
  for (int k = 0; k < loop.operands; ++k) write(loop.strides[static_cast<std::size_t>(k)]);
}

void PointwiseProblem::set_flat(std::int64_t count, std::size_t operands) noexcept {
  rank = 1;
  axes[0] = count;
  std::fill_n(axes.begin() + 1, operands, 1);
}

Loop PointwiseProblem::loop(std::size_t operands) const {
  Loop loop;
  loop.operands = static_cast<int>(operands);
  auto at = axes.begin();
  const auto read = [&](Shape& shape) {
    for (std::int64_t i = 0; i < rank; ++i) shape.push_back(*at++);
  };
  read(loop.shape);
  for (std::size_t k = 0; k < operands; ++k) read(loop.strides[k]);
  return loop;
}

std::span<const std::byte> PointwiseProblem::key_bytes(std::size_t operands) const noexcept {
  const std::size_t used = static_cast<std::size_t>(rank) * (1 + operands) * sizeof(std::int64_t);
  return std::as_bytes(std::span(this, 1)).first(offsetof(PointwiseProblem, axes) + used);
}

namespace {

using Form = PointwiseKernels::Form;

/// Makes the plans of both variants.
class Planner {
 public:
  Planner(const PointwiseProblem& p, const Target& target)
      : problem_(p),
        target_(target),
        kernels_(kernels_numbered(p.kernels)),
        loop_(p.loop(kernels_.graph().input_count() + 1)),
        n_(loop_.shape.numel()) {
    const PointwiseGraph& graph = kernels_.graph();
    const std::size_t tensors = graph.input_count() + graph.outputs().size();
    for (std::size_t i = 0; i < tensors; ++i) args_.push_back(operand(static_cast<int>(i)));
    for (std::size_t i = 0; i < graph.scalar_count(); ++i) args_.push_back(CallScalar{static_cast<std::uint8_t>(i)});
  }

  Plan chunks();
  Plan items();

 private:
  bool streams() const;
  bool outputs_are_whole_rows() const;
  bool has_vector_rows() const;
  bool fits_32_bits() const;
  void add_axes(int lanes, bool pad_behind);
  Plan launch(Form form, const runtime::NdRange& range) const {
    const std::string& text = kernels_.prelude(target_, form);
    Plan plan;
    plan.add(kernels_.spec(target_, form, problem_.in_place != 0, text), range, args_);
    return plan;
  }

  const PointwiseProblem& problem_;
  const Target& target_;
  const PointwiseKernels& kernels_;
  const Loop loop_;  ///< The inputs, then the outputs. All outputs have the same strides.
  const std::int64_t n_;
  ArgList args_;
};

// Adds `lanes` axes: the axes of the loop, padded with axes of size 1 before or after them.
void Planner::add_axes(int lanes, bool pad_behind) {
  const auto padded = [&](const Shape& axes, std::int64_t padding) {
    if (pad_behind) return Lanes{axes, lanes};
    Shape all = Shape::filled(lanes - axes.rank(), padding);
    for (const std::int64_t value : axes) all.push_back(value);
    return Lanes{all, lanes};
  };
  args_.push_back(padded(loop_.shape, 1));
  for (int k = 0; k < loop_.operands; ++k) args_.push_back(padded(loop_.strides[static_cast<std::size_t>(k)], 0));
}

// Whether stores bypass the caches. Such stores do not read the memory that they overwrite. They save time if the
// result is too large for a cache. The result must start with whole vectors.
bool Planner::streams() const {
  const PointwiseGraph& graph = kernels_.graph();
  constexpr std::size_t cached = std::size_t{8} << 20;
  const bool is_large = static_cast<std::size_t>(n_) * size_of(graph.output_dtype(0)) * graph.outputs().size() > cached;
  return is_large && target_.info.type == DeviceType::cpu && target_.loop_budget >= n_ &&
         problem_.outputs_start_cpu_vectors != 0;
}

// Whether the rows of the outputs are whole vectors, one row after another.
bool Planner::outputs_are_whole_rows() const {
  const Shape& strides = loop_.strides[static_cast<std::size_t>(loop_.operands) - 1];
  std::int64_t step = 1;
  for (int i = loop_.shape.rank(); i-- > 0; step *= loop_.shape[i])
    if (strides[i] != step) return false;
  return loop_.shape.back() % PointwiseProblem::cpu_vector == 0;
}

Plan Planner::chunks() {
  const dispatch::WorkSplit split = split_for_cpu(target_, n_, kernels_.min_chunk(), 16, kernels_.loop_rounds());
  Form form = streams() ? Form::flat_stream : Form::flat_wide;
  if (!loop_.is_flat()) {
    const bool streamed = form == Form::flat_stream && split.chunk % 16 == 0 && outputs_are_whole_rows();
    const bool is_short = loop_.shape.back() < target_.cpu_vector_width();
    const bool deep = loop_.shape.rank() > 4;
    form = is_short   ? (deep ? Form::short_rows_8 : Form::short_rows_4)
           : deep     ? Form::rows_8
           : streamed ? Form::rows_stream_4
                      : Form::rows_4;
    add_axes(deep ? 8 : 4, true);
    args_.push_back(std::int32_t{loop_.shape.rank()});
  }
  args_.push_back(n_);
  args_.push_back(split.chunk);
  return launch(form, {{split.items}, {1}});
}

// Whether every row consists of whole vectors. In each operand, the elements of a row must be neighbours or one
// repeated element.
bool Planner::has_vector_rows() const {
  constexpr std::int64_t lanes = PointwiseProblem::gpu_vector;
  if (loop_.shape.back() % lanes != 0 || problem_.starts_gpu_vectors == 0) return false;
  for (int k = 0; k < loop_.operands; ++k) {
    const Shape& strides = loop_.strides[static_cast<std::size_t>(k)];
    const std::int64_t step = strides.back();
    if (step != 1 && (step != 0 || k == loop_.operands - 1)) return false;
    for (int i = 0; step == 1 && i + 1 < strides.rank(); ++i)
      if (strides[i] % lanes != 0) return false;
  }
  return true;
}

// Whether every index and offset of the loop is in [0, 2^32).
bool Planner::fits_32_bits() const {
  const auto limit = static_cast<std::int64_t>(std::numeric_limits<std::uint32_t>::max());
  if (n_ > limit) return false;
  for (int k = 0; k < loop_.operands; ++k) {
    std::int64_t last = 0;
    for (int i = 0; i < loop_.shape.rank(); ++i) {
      const std::int64_t stride = loop_.strides[static_cast<std::size_t>(k)][i];
      if (stride < 0) return false;  // ops::flip reads backwards; sums in 64 bits wrap around correctly.
      last += (loop_.shape[i] - 1) * stride;
    }
    if (last > limit) return false;
  }
  return true;
}

Plan Planner::items() {
  constexpr std::int64_t lanes = PointwiseProblem::gpu_vector;
  const std::int64_t vectors = ceil_div(n_, lanes);
  if (loop_.is_flat()) {
    args_.push_back(n_);
    args_.push_back(lanes);
    return launch(problem_.starts_gpu_vectors != 0 ? Form::flat_whole_vectors : Form::flat,
                  target_.flat_range(vectors));
  }
  const int rank = loop_.shape.rank(), step = rank <= 2 ? 0 : rank <= 4 ? 1 : 2;
  add_axes(2 << step, false);
  args_.push_back(n_);
  const bool is_small = fits_32_bits();
  if (is_small && has_vector_rows())
    return launch(static_cast<Form>(static_cast<int>(Form::item_vectors_2) + step), target_.flat_range(vectors));
  const Form first = is_small ? Form::items_2 : Form::items_2_long;
  return launch(static_cast<Form>(static_cast<int>(first) + step), target_.flat_range(n_));
}

PlanOr plan_chunks(const PointwiseProblem& p, const Target& target, std::size_t) { return Planner(p, target).chunks(); }

PlanOr plan_items(const PointwiseProblem& p, const Target& target, std::size_t) { return Planner(p, target).items(); }

constexpr Variant<PointwiseProblem> variants[] = {{"chunks", DeviceClass::cpu, plan_chunks},
                                                  {"items", DeviceClass::any, plan_items}};

}  // namespace

const Table<PointwiseProblem> pointwise_table("pointwise", variants);

}  // namespace crisol::ops
