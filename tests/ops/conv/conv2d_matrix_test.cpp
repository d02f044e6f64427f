// Convolutions on matrix units, compared with sums in double: kernels with the places of each unit, emulated, in every
// direction and precision. The tests also cover the variant for each precision, and gradients in the precision of the
// op.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "crisol/functions/conv.h"
#include "crisol/ops/matmul.h"
#include "crisol/tuning.h"
#include "doctest/doctest.h"
#include "ops/conv/gpu/conv2d_tiled.h"
#include "ops/product/gemm_operands.h"
#include "ops/product/matrix_units.h"
#include "reference/images/conv2d.h"
#include "reference/images/conv2d_cases.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"
#include "tensor/kernel_args.h"

namespace crisol {

namespace {

using ops::Conv2dProblem;
using ops::TileShape;
using testing::Kind;
using testing::min_tile;
using testing::random_values;
using testing::tensor_of;
using Case = reference::Conv2dCase;
using Values = std::vector<double>;

/// Random values, rounded to fp32 as kernels read them.
Values operand(std::uint64_t seed, const Shape& shape) {
  Values values = testing::away_from_zero(random_values(seed, shape.numel()));
  for (double& value : values) value = static_cast<float>(value);
  return values;
}

Values each(const Values& values, const std::function<double(double)>& change) {
  Values changed(values.size());
  std::transform(values.begin(), values.end(), changed.begin(), change);
  return changed;
}

/// The sums that `convolve` computes from both operands.
template <class Convolve>
testing::RoundedSums sums_of(const Values& a, const Values& b, Precision precision, Convolve&& convolve) {
  const auto size = [](double value) { return std::abs(value); };
  const auto round = [=](double value) { return testing::round_to(value, precision); };
  return {convolve(a, b), convolve(each(a, size), each(b, size)), convolve(each(a, round), each(b, round))};
}

Conv2dProblem in_precision(Conv2dProblem problem, Precision precision) {
  problem.product.precision = static_cast<std::int64_t>(precision);
  return problem;
}

struct Unit {
  Kind kind;
  bool emulated;
  Precision precision;
};

/// Runs the forward pass and both gradients with one tile.
class Check {
 public:
  Check(const Case& c, const TileShape& tile, const Unit& unit)
      : c_(c), tile_(tile), unit_(unit), y_shape_(reference::conv2d_shape(c.x, c.weight, c.options)) {}

  void forward() const {
    const Tensor y = full(y_shape_, NAN), x = tensor_of(x_, c_.x), weight = tensor_of(w_, c_.weight);
    const Conv2dProblem p = problem(x, weight, y);
    run(ops::plan_forward_product(p, target_, engine()), x, weight, y);
    check(y, c_.weight.numel() / c_.weight[0], sums_of(x_, w_, unit_.precision, [&](const Values& a, const Values& b) {
            return reference::conv2d(a, c_.x, b, c_.weight, {}, c_.options);
          }));
  }

  void data() const {
    const Tensor dy = tensor_of(dy_, y_shape_), weight = tensor_of(w_, c_.weight), dx = full(c_.x, NAN);
    const Conv2dProblem p = problem(dy, weight, dx);
    run(ops::plan_phase_products(p, target_, engine()), dy, weight, dx);
    check(dx, c_.weight[0] / c_.options.groups * c_.weight[2] * c_.weight[3],
          sums_of(dy_, w_, unit_.precision, [&](const Values& a, const Values& b) {
            return reference::conv2d_backward_data(a, b, c_.weight, c_.x, c_.options);
          }));
  }

  void weight() const {
    const Tensor dy = tensor_of(dy_, y_shape_), x = tensor_of(x_, c_.x), dw = full(c_.weight, NAN);
    const Conv2dProblem p = problem(dy, x, dw);
    run(ops::plan_weight_product(p, target_, engine()), dy, x, dw);
    check(dw, y_shape_[0] * y_shape_[2] * y_shape_[3],
          sums_of(dy_, x_, unit_.precision, [&](const Values& a, const Values& b) {
            return reference::conv2d_backward_weight(a, b, c_.x, c_.weight, c_.options);
          }));
  }

 private:
  const Case& c_;
  TileShape tile_;
  Unit unit_;
  Shape y_shape_;
  ops::Conv2dSizes sizes_ = ops::conv2d_sizes("conv2d", c_.x, c_.weight, c_.options);
  dispatch::Target target_ = target_for_any_depth();
  Values x_ = operand(1, c_.x), w_ = operand(2, c_.weight), dy_ = operand(3, y_shape_);

  // The limit for emulated units on llvmpipe is cautious. The depths of these cases are within the length that it runs.
  static dispatch::Target target_for_any_depth() {
    dispatch::Target target = dispatch::target_of(Device().state());
    target.loop_budget = std::numeric_limits<std::int64_t>::max();
    return target;
  }

  Conv2dProblem problem(const Tensor& from, const Tensor& weight, const Tensor& to) const {
    return in_precision(ops::conv2d_problem(sizes_, {&from, &weight, &to}), unit_.precision);
  }

  ops::ConvEngine engine() const { return ops::matrix_engine({unit_.kind, unit_.emulated}, unit_.precision, {tile_}); }

  void run(dispatch::PlanOr plan, const Tensor& from, const Tensor& weight, const Tensor& to) const {
    REQUIRE_MESSAGE(static_cast<bool>(plan), std::string(plan.reason() == nullptr ? "" : plan.reason()));
    const auto prepared = dispatch::prepare(std::move(plan.plan()), Device().state());
    dispatch::launch(*prepared, {in(from), in_with_copies(weight), out(to), in(weight), in(weight), in(weight)});
  }

  void check(const Tensor& found, std::int64_t terms, const testing::RoundedSums& sums) const {
    CAPTURE(dispatch::facts_of(unit_.kind).name);
    CAPTURE(unit_.precision);
    CAPTURE(tile_.rows);
    CAPTURE(tile_.columns);
    CAPTURE(c_.x);
    CAPTURE(c_.weight);
    CAPTURE(c_.options.stride);
    testing::check_rounded(found.to_vector<float>(), sums, unit_.precision, terms);
  }
};

/// Other platforms take ten times as long to compile a program.
bool compiles_soon() { return Device().info().platform == "Intel(R) OpenCL"; }

void check_all(const Case& c, const TileShape& tile, const Unit& unit) {
  const Check check(c, tile, unit);
  check.forward();
  check.data();
  check.weight();
}

/// The tiles of the weight's gradient.
std::span<const TileShape> weight_tiles(Kind kind, Precision precision) {
  return ops::mma_engine({kind, false}, precision).tiles();
}

/// A case for split_k, with several tiles of rows and columns, and groups. The depth is 576, in groups of eight
/// channels, or 297, without groups of eight. There are 33 x 35 results.
const Case cut_case{{1, 128, 5, 7}, {66, 64, 3, 3}, {1, 1, 1, 2}};

dispatch::Target target_of(const DeviceInfo& info, Kind kind) {
  dispatch::Target target{info, 1, std::numeric_limits<std::int64_t>::max()};
  target.units.fill({kind, false});
  return target;
}

Conv2dProblem problem_for(const ops::Conv2dSizes& sizes, Precision precision) {
  Conv2dProblem problem{};
  problem.sizes = sizes;
  return in_precision(problem, precision);
}

using ConvTable = dispatch::Table<Conv2dProblem>;

/// The number of configurations of "matrix" that take the problem.
std::size_t configs_for(const ConvTable& table, const Conv2dProblem& problem, const dispatch::Target& target) {
  std::size_t count = 0;
  for (const auto& row : table.rows())
    if (row.name == std::string("matrix"))
      for (std::size_t i = 0; i < row.configs().size(); ++i)
        count += static_cast<bool>(table.plan(row, &problem, target, i));
  return count;
}

/// The first variant that takes the problem.
std::string chosen(const ConvTable& table, const Conv2dProblem& problem, const dispatch::Target& target) {
  return choose(table, problem, target).variant;
}

}  // namespace

// Strides and dilations, padding, groups, phases without a tap, images of one pixel. No vectors are stored, so that all
// cases share one program per direction.
TEST_CASE("conv2d matrix: odd windows within the precision's bound") {
  const Unit unit{Kind::mma_sm80, true, Precision::fp16};
  int i = 0;
  for (const Case& c : reference::small_conv2d_cases)
    if (!testing::slow_launches() || i++ % 3 == 1) check_all(c, min_tile, unit);
}

TEST_CASE("conv2d matrix: every precision, cut depths") {
  if (testing::slow_device()) CRISOL_SKIP("two programs and 3 million multiply-adds");
  for (const Precision precision : testing::rounded_precisions)
    if (precision == Precision::tf32 || compiles_soon())
      check_all(cut_case, min_tile, {Kind::mma_sm80, true, precision});
}

TEST_CASE("conv2d matrix: every tile, and the places of every unit") {
  if (!compiles_soon()) CRISOL_SKIP("dozens of programs, which Intel's runtime compiles the soonest");
  const Case c{{3, 9, 8, 9}, {72, 9, 3, 3}, {1, 1}};
  for (const Kind kind : testing::all_kinds)
    for (const Precision precision : {Precision::fp16, Precision::tf32}) {
      const Unit unit{kind, true, precision};
      Check(c, ops::gathered_matrix_tiles({kind, true}, precision).back(), unit).forward();
      Check(c, weight_tiles(kind, precision).back(), unit).weight();
    }
  for (const TileShape& tile : ops::gathered_matrix_tiles({Kind::mma_sm80, true}, Precision::bf16))
    Check(c, tile, {Kind::mma_sm80, true, Precision::bf16}).data();
}

TEST_CASE("conv2d matrix: on this device's own units") {
  int ran = 0;
  for (const Precision precision : testing::rounded_precisions) {
    const ops::MatrixUnits units = ops::matrix_units(Device(), precision);
    if (units.unit.empty()) continue;
    const Unit unit{dispatch::matrix_unit_named(units.unit), false, precision};
    for (const Case& c : reference::small_conv2d_cases) check_all(c, weight_tiles(unit.kind, precision).front(), unit);
    for (const TileShape& tile : ops::gathered_matrix_tiles({unit.kind, false}, precision)) {
      Check(cut_case, tile, unit).forward();
      Check(cut_case, tile, unit).data();
    }
    for (const TileShape& tile : weight_tiles(unit.kind, precision)) Check(cut_case, tile, unit).weight();
    ++ran;
  }
  if (ran == 0) CRISOL_SKIP("vendors' instructions: " + ops::matrix_units(Device(), Precision::fp16).reason);
}

TEST_CASE("conv2d matrix: gradients in the precision of the op") {
  if (!compiles_soon()) CRISOL_SKIP("three programs with large tiles, which Intel's runtime compiles the soonest");
  const testing::MustRun must_0("conv2d", {"matrix"}), must_1("conv2d_backward_data", {"matrix"}),
      must_2("conv2d_backward_weight", {"matrix"});
  // The variant refuses fp32. bf16 rounds this value to 1: the tie goes to the even number.
  const ForcedVariant forward("conv2d", "matrix/64x64"), data("conv2d_backward_data", "matrix"),
      weights("conv2d_backward_weight", "matrix/32x128");
  const double value = 1 + std::ldexp(1.0, -8);
  const Tensor x = tensor_of(Values(18, value), {1, 2, 3, 3}).requires_grad_();
  const Tensor weight = tensor_of(Values(24, value), {3, 2, 2, 2}).requires_grad_();
  const Tensor bias = tensor_of({0.25, 0.5, value}, {3});
  Tensor y;
  {
    const WithPrecision rounded(Precision::bf16);
    y = conv2d(x, weight, bias);
  }
  Values expected;
  for (const double added : {0.25, 0.5, value}) expected.insert(expected.end(), 4, 8 + added);
  testing::check_close(y, expected, {0});
  y.backward(tensor_of(Values(12, value), {1, 3, 2, 2}));
  const Values taps{1, 2, 1, 2, 4, 2, 1, 2, 1};
  Values dx;
  for (int channel = 0; channel < 2; ++channel)
    for (const double tap : taps) dx.push_back(3 * tap);
  testing::check_close(x.grad(), dx, {0});
  testing::check_close(weight.grad(), Values(24, 4.0), {0});
  testing::check_error([&] { conv2d(x, weight, bias); }, {"[conv2d]", "the precision is fp32"});
}

TEST_CASE("conv2d on CPUs: Winograd is left where most columns of a unit would have no tile") {
  NEEDS_OWN_CHOICES();
  DeviceInfo info;
  info.type = DeviceType::cpu;
  info.compute_units = 1;
  const dispatch::Target target{info, 16, std::numeric_limits<std::int64_t>::max()};
  const auto chosen_for = [&](std::int64_t width) {
    const ops::Conv2dSizes sizes = ops::conv2d_sizes("conv2d", {1, 96, 16, width}, {24, 96, 3, 3}, {1, 1});
    return chosen(ops::conv2d_table, problem_for(sizes, Precision::fp32), target);
  };
  CHECK(chosen_for(24) == "cpu_gemm");  // 24 tiles for 48 columns.
  CHECK(chosen_for(48) == "winograd");
}

TEST_CASE("conv2d matrix: chosen where the precision allows and the unit is worth more than Winograd's savings") {
  for (const char* op : {"conv2d", "conv2d_backward_data", "conv2d_backward_weight"})
    testing::state_choice(op, "matrix");
  const DeviceInfo a100 = testing::imagined("NVIDIA CUDA", "NVIDIA A100-SXM4-80GB", 108),
                   geforce = testing::imagined("NVIDIA CUDA", "NVIDIA GeForce RTX 4090", 128);
  const auto sizes = [](std::int64_t channels, std::int64_t size, int taps, Conv2dOptions options) {
    return ops::conv2d_sizes("conv2d", {32, channels, size, size}, {channels, channels / options.groups, taps, taps},
                             options);
  };
  const auto of = [&](const ops::Conv2dSizes& s, Kind kind, Precision precision, const DeviceInfo& info) {
    return chosen(ops::conv2d_table, problem_for(s, precision), target_of(info, kind));
  };
  const ops::Conv2dSizes wide = sizes(256, 28, 3, {1, 1}), strided = sizes(64, 56, 3, {2, 1});
  CHECK(of(wide, Kind::none, Precision::fp32, a100) == "winograd_f4");
  CHECK(of(wide, Kind::mma_sm80, Precision::fp32, a100) == "winograd_f4");
  CHECK(of(wide, Kind::none, Precision::fp16, a100) == "winograd_f4");
  CHECK(of(wide, Kind::mma_sm80, Precision::tf32, a100) == "matrix");
  CHECK(of(wide, Kind::mma_sm80, Precision::tf32, geforce) == "winograd_f4");
  CHECK(of(sizes(64, 56, 3, {1, 1}), Kind::mma_sm80, Precision::fp16, geforce) == "matrix");
  CHECK(of(strided, Kind::mma_sm80, Precision::tf32, geforce) == "matrix");
  CHECK(of(strided, Kind::none, Precision::tf32, geforce) == "block");
  CHECK(of(sizes(64, 56, 3, {1, 1, 1, 64}), Kind::mma_sm80, Precision::fp16, a100) == "depthwise");
  CHECK(of(sizes(64, 56, 1, {}), Kind::mma_sm80, Precision::fp16, a100) == "gemm");
  const Conv2dProblem problem = problem_for(strided, Precision::bf16);
  const dispatch::Target with_mfma = target_of(a100, Kind::mfma);
  CHECK(chosen(ops::conv2d_backward_data_table, problem, with_mfma) == "matrix");
  CHECK(chosen(ops::conv2d_backward_weight_table, problem, with_mfma) == "matrix");
  dispatch::Target emulating = target_of(a100, Kind::mma_sm80);
  emulating.units.fill({Kind::mma_sm80, true});
  CHECK(chosen(ops::conv2d_table, problem_for(wide, Precision::tf32), emulating) == "winograd_f4");
  {
    const ForcedVariant forced("conv2d", "matrix");
    CHECK(chosen(ops::conv2d_table, problem_for(wide, Precision::tf32), emulating) == "matrix");
  }
  const ops::Conv2dSizes large = sizes(4, 60, 17, {});
  const Conv2dProblem too_large = problem_for(large, Precision::bf16);
  const dispatch::PlanOr plan =
      ops::plan_forward_product(too_large, with_mfma, ops::matrix_engine(too_large, with_mfma, dispatch::own_config));
  REQUIRE(!plan);
  CHECK(std::string(plan.reason()) == "the kernel is larger than 16 x 15");
}

TEST_CASE("conv2d matrix: tiles whose items gather whole fours, each of them a configuration") {
  const DeviceInfo info = testing::imagined("NVIDIA CUDA", "NVIDIA A100", 108);
  const ops::Conv2dSizes sizes = ops::conv2d_sizes("conv2d", {2, 6, 9, 9}, {8, 6, 3, 3}, {2, 1});
  for (const Kind kind : testing::all_kinds)
    for (const Precision precision : testing::rounded_precisions) {
      const auto tiles = ops::gathered_matrix_tiles({kind, false}, precision);
      CHECK(!tiles.empty());
      const Conv2dProblem problem = problem_for(sizes, precision);
      const dispatch::Target target = target_of(info, kind);
      CHECK(configs_for(ops::conv2d_table, problem, target) == tiles.size());
      CHECK(configs_for(ops::conv2d_backward_data_table, problem, target) == tiles.size());
      CHECK(configs_for(ops::conv2d_backward_weight_table, problem, target) == weight_tiles(kind, precision).size());
      for (const TileShape& tile : tiles)
        CHECK(tile.columns * ops::slice_depth(precision) / (tile.parts() * dispatch::facts_of(kind).lanes) % 4 == 0);
    }
}

}  // namespace crisol
