#include "crisol/ops/rnn.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../../cl_kernels/rnn/sequence.h"
#include "crisol/ops/copy.h"
#include "crisol/profile.h"
#include "crisol/random.h"
#include "doctest/doctest.h"
#include "ops/rnn/rnn_problem.h"
#include "reference/rnn.h"
#include "support/compare.h"
#include "support/coverage.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;
using reference::Numbers;
using reference::RnnInputs;
using reference::RnnLayer;
using reference::RnnNumbers;
using reference::RnnOutputs;

namespace {

/// The variants of both directions. Says how many loop iterations "rows" does in one work-item.
struct RnnVariants {
  explicit RnnVariants(std::int64_t iterations = 0)
      : RnnVariants({on_cpus("rows", iterations), "persistent_weights",
                     where(Device().info().max_work_group >= 128, "persistent_rows"), "steps"}) {}
  explicit RnnVariants(const std::vector<Expected>& all) : forward("rnn_forward", all), backward("rnn_backward", all) {}

  MustRun forward, backward;
};

/// Sizes for which "persistent_weights" would have to build separate programs leave it out, and so do slow devices.
enum class Resident { tried, left_out };

constexpr RnnCell all_cells[] = {RnnCell::tanh, RnnCell::relu, RnnCell::lstm, RnnCell::gru};

struct Data {
  RnnInputs in;
  RnnNumbers weights;
  RnnOutputs dout;
};

Data data_of(const RnnLayer& l, bool with_bias = true) {
  const std::int64_t rows = l.gates() * l.hidden, batch = l.batch;
  const double bound = 1 / std::sqrt(static_cast<double>(l.hidden));
  Data d;
  d.in.x = random_values(1, l.steps * batch * l.inputs, -2, 2);
  d.in.h0 = random_values(2, batch * l.outputs());
  d.weights.weight_ih = random_values(3, rows * l.inputs, -bound, bound);
  d.weights.weight_hh = random_values(4, rows * l.outputs(), -bound, bound);
  if (with_bias) {
    d.weights.bias_ih = random_values(5, rows);
    d.weights.bias_hh = random_values(6, rows);
  }
  if (l.projection > 0) d.weights.weight_hr = random_values(7, l.projection * l.hidden, -bound, bound);
  d.dout.y = random_values(8, l.steps * batch * l.outputs());
  d.dout.h_n = random_values(9, batch * l.outputs());
  if (l.cell == RnnCell::lstm) {
    d.in.c0 = random_values(10, batch * l.hidden, -2, 2);
    d.dout.c_n = random_values(11, batch * l.hidden);
  }
  return d;
}

Tensor tensor_or_none(const Numbers& values, const Shape& shape, Layout layout) {
  return values.empty() ? Tensor() : view_of(values, shape, layout);
}

Tensor lengths_of(const RnnLayer& l) { return l.lengths.empty() ? Tensor() : from_vector(l.lengths); }

RnnInput input_of(const RnnLayer& l, const Data& d, Layout layout = Layout::contiguous) {
  return {view_of(d.in.x, {l.steps, l.batch, l.inputs}, layout), view_of(d.in.h0, {l.batch, l.outputs()}, layout),
          tensor_or_none(d.in.c0, {l.batch, l.hidden}, layout), lengths_of(l)};
}

RnnWeights weights_of(const RnnLayer& l, const Data& d, Layout layout = Layout::contiguous) {
  const std::int64_t rows = l.gates() * l.hidden;
  return {view_of(d.weights.weight_ih, {rows, l.inputs}, layout),
          view_of(d.weights.weight_hh, {rows, l.outputs()}, layout), tensor_or_none(d.weights.bias_ih, {rows}, layout),
          tensor_or_none(d.weights.bias_hh, {rows}, layout),
          tensor_or_none(d.weights.weight_hr, {l.outputs(), l.hidden}, layout)};
}

double largest(const Numbers& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

// The gradients are sums over all steps. Their rounding grows with the number of terms and with the largest value.
void check_gradient(const Tensor& actual, const Shape& shape, const Numbers& expected, double terms) {
  if (expected.empty()) {
    CHECK(!actual.defined());
    return;
  }
  check_close(actual, shape, expected, {64 + 4 * std::sqrt(terms), std::max(1.0, largest(expected))});
}

/// Fills what the padding of sequences (T, B, columns) holds with NaN and infinity.
void spoil_padding(const RnnLayer& l, Numbers& values, std::int64_t columns) {
  const double nothing[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
  for (std::int64_t t = 0; t < l.steps; ++t)
    for (std::int64_t b = 0; b < l.batch; ++b)
      for (std::int64_t j = 0; t >= l.length(b) && j < columns; ++j)
        values[static_cast<std::size_t>((t * l.batch + b) * columns + j)] = nothing[j % 2];
}

void check_layer(const RnnVariants& variants, const RnnLayer& l, Layout layout = Layout::contiguous,
                 bool with_bias = true, Resident resident = Resident::tried) {
  CAPTURE(std::string(name_of(l.cell)));
  CAPTURE(l.reverse);
  CAPTURE(Shape({l.steps, l.batch, l.inputs, l.hidden, l.projection}));
  CAPTURE(!l.lengths.empty());
  CAPTURE(std::string(name_of(layout)));
  Data d = data_of(l, with_bias);
  RnnLayer described = l;
  described.bias = with_bias;
  const RnnOutputs expected = reference::rnn_forward(described, d.in, d.weights);
  const auto gradients = reference::rnn_backward(described, d.in, d.weights, d.dout);
  spoil_padding(l, d.in.x, l.inputs);
  spoil_padding(l, d.dout.y, l.outputs());
  const RnnInput input = input_of(l, d, layout);
  const RnnWeights weights = weights_of(l, d, layout);
  const RnnOptions options{l.cell, l.reverse};
  const Shape y{l.steps, l.batch, l.outputs()}, h{l.batch, l.outputs()}, c{l.batch, l.hidden};
  // The errors of one step are some ulp of sums of `terms` products. tanh and sigmoid reduce them in later steps, and
  // ReLU lets them grow.
  const double terms = static_cast<double>(l.inputs + l.outputs() + l.steps * l.batch);
  const Tolerance tolerance{32 + 4 * std::sqrt(terms), std::max(1.0, largest(expected.y))};
  ops::RnnResult result;
  bool first = true;
  const auto is_left_out = [&](std::string_view variant) {
    return resident == Resident::left_out && variant == "persistent_weights";
  };
  for_each_variant(variants.forward, [&](const char* forward) {
    if (is_left_out(forward)) return;
    for (const bool save : {false, true}) {
      result = ops::rnn_forward(input, weights, options, save);
      check_close(result.y, y, expected.y, tolerance);
      check_close(result.h_n, h, expected.h_n, tolerance);
      if (l.cell == RnnCell::lstm) check_close(result.c_n, c, expected.c_n, tolerance);
      CHECK(result.saved.states.defined() == save);
    }
    if (slow_device() && !first) return;  // All variants save the same data for backward.
    first = false;
    const ops::RnnResult saved = result;
    for_each_variant(variants.backward, [&](const char* backward) {
      if (is_left_out(backward)) return;
      const auto actual = ops::rnn_backward(
          {view_of(d.dout.y, y, layout), view_of(d.dout.h_n, h, layout), tensor_or_none(d.dout.c_n, c, layout)}, input,
          weights, options, saved.saved);
      const std::int64_t rows = l.gates() * l.hidden;
      check_gradient(actual.x, input.x.shape(), gradients.inputs.x, terms);
      check_gradient(actual.h0, h, gradients.inputs.h0, terms);
      check_gradient(actual.c0, c, gradients.inputs.c0, terms);
      check_gradient(actual.weights.weight_ih, {rows, l.inputs}, gradients.weights.weight_ih, terms);
      check_gradient(actual.weights.weight_hh, {rows, l.outputs()}, gradients.weights.weight_hh, terms);
      check_gradient(actual.weights.bias_ih, {rows}, gradients.weights.bias_ih, terms);
      check_gradient(actual.weights.bias_hh, {rows}, gradients.weights.bias_hh, terms);
      check_gradient(actual.weights.weight_hr, {l.outputs(), l.hidden}, gradients.weights.weight_hr, terms);
    });
  });
}

// Lengths in mixed order between 1 and `steps`. Both bounds occur.
std::vector<std::int64_t> mixed_lengths(std::int64_t steps, std::int64_t batch) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < batch; ++b) lengths.push_back(1 + (b * 7 + steps - 1) % steps);
  return lengths;
}

}  // namespace

TEST_CASE("rnn: every cell agrees with the reference, in both directions and with lengths") {
  const RnnVariants variants;
  for (const RnnCell cell : all_cells)
    for (const bool reverse : {false, true}) {
      check_layer(variants, {cell, reverse, 3, 2, 3, 4}, Layout::contiguous, true,
                  slow_device() ? Resident::left_out : Resident::tried);
      check_layer(variants, {cell, reverse, 5, 4, 2, 3, 0, true, mixed_lengths(5, 4)});
    }
}

TEST_CASE("rnn: odd sizes, views as inputs, no bias") {
  const RnnVariants variants;
  for (const RnnCell cell : all_cells) {
    check_layer(variants, {cell, false, 1, 1, 1, 1}, Layout::contiguous, true,
                slow_device() ? Resident::left_out : Resident::tried);
    const bool tries_resident = cell == RnnCell::lstm || (cell == RnnCell::gru && !slow_device());
    check_layer(variants, {cell, true, 2, 7, 5, 17}, Layout::contiguous, true,
                tries_resident ? Resident::tried : Resident::left_out);
    check_layer(variants, {cell, false, 2, 3, 4, 5}, Layout::contiguous, false);
  }
  for (const Layout layout : all_layouts)
    check_layer(variants, {RnnCell::lstm, false, 2, 3, 4, 5}, layout, true, Resident::left_out);
  check_layer(variants, {RnnCell::gru, true, 2, 3, 4, 5}, Layout::permuted);
}

TEST_CASE("rnn: an LSTM with projection") {
  const RnnVariants variants({may_run("rows"), may_run("persistent_weights"), may_run("persistent_rows"), "steps"});
  for (const bool reverse : {false, true}) {
    check_layer(variants, {RnnCell::lstm, reverse, 3, 2, 3, 5, 2});
    check_layer(variants, {RnnCell::lstm, reverse, 4, 3, 2, 4, 3, true, mixed_lengths(4, 3)});
  }
  check_layer(variants, {RnnCell::lstm, false, 2, 2, 3, 4, 4});
}

TEST_CASE("rnn: a packed weight is kept until the weight is written") {
  const RnnVariants variants;
  for (const RnnCell cell : {RnnCell::lstm, RnnCell::tanh}) {
    const RnnLayer l{cell, false, 3, 2, 3, 4};
    const Data d = data_of(l);
    const RnnInput input = input_of(l, d);
    const RnnOptions options{cell, false};
    const Tensor dy = view_of(d.dout.y, {l.steps, l.batch, l.outputs()}, Layout::contiguous);
    const auto results = [&](const RnnWeights& weights) {
      const ops::RnnResult forward = ops::rnn_forward(input, weights, options);
      const auto backward = ops::rnn_backward({dy, {}, {}}, input, weights, options, forward.saved);
      return std::pair(forward.y.to_vector<float>(), backward.h0.to_vector<float>());
    };
    for_each_variant(variants.forward, [&](const char* variant) {
      const RnnWeights weights = weights_of(l, d);
      run_variant("rnn_backward", variant, [&] {
        const auto first = results(weights);
        for (int call = 0; call < 3; ++call) CHECK(results(weights) == first);
        ops::fill_into(weights.weight_hh, 0.25);
        ops::fill_into(weights.weight_ih, 0.5);
        RnnWeights others = weights;
        others.weight_hh = full(weights.weight_hh.shape(), 0.25);
        others.weight_ih = full(weights.weight_ih.shape(), 0.5);
        CHECK(results(weights) == results(others));
      });
    });
  }
}

TEST_CASE("rnn: CPUs read initial states where they are") {
  if (Device().info().type != DeviceType::cpu) return;
  const std::int64_t hidden = 20;
  RnnInput input;
  input.x = rand({3, 2, 5});
  input.h0 = rand({2, hidden});
  input.c0 = rand({2, hidden});
  RnnWeights weights;
  weights.weight_ih = rand({4 * hidden, 5});
  weights.weight_hh = rand({4 * hidden, hidden});
  const RnnOptions options{RnnCell::lstm, false};
  const ops::RnnResult kept = ops::rnn_forward(input, weights, options, true);
  const Profile profile;
  const ops::RnnResult result = ops::rnn_forward(input, weights, options, false);
  for (const ProfileRow& row : profile.rows()) CHECK(row.kernel != "copy");
  CHECK(result.y.to_vector<float>() == kept.y.to_vector<float>());
  CHECK(result.c_n.to_vector<float>() == kept.c_n.to_vector<float>());
}

TEST_CASE("rnn: sizes that cut tiles and blocks") {
  if (slow_device()) CRISOL_SKIP("millions of multiply-adds");
  const RnnVariants variants(40000);
  for (const RnnCell cell : all_cells) {
    check_layer(variants, {cell, false, 4, 13, 21, 40}, Layout::contiguous, true,
                cell == RnnCell::gru ? Resident::tried : Resident::left_out);
    check_layer(variants, {cell, true, 3, 33, 9, 64, 0, true, mixed_lengths(3, 33)}, Layout::contiguous, true,
                cell == RnnCell::tanh ? Resident::tried : Resident::left_out);
  }
  check_layer(variants, {RnnCell::lstm, false, 3, 26, 30, 100}, Layout::contiguous, true, Resident::left_out);
  check_layer(variants, {RnnCell::gru, false, 3, 5, 30, 130}, Layout::contiguous, true, Resident::left_out);
}

TEST_CASE("rnn: positions of rows are 64-bit numbers") {
  const int t = 70000, batch = 70000, b = 69999, columns = 8192;
#define long std::int64_t  // OpenCL's long always has 64 bits; Windows compilers' long has 32.
  const auto row = ROW_AT(t, batch, b, columns);
#undef long
  static_assert(sizeof(row) == 8);
  CHECK(row == (std::int64_t{t} * batch + b) * columns);
  const ops::RnnSizes s{static_cast<std::int64_t>(RnnCell::lstm), 1, 70000, 70000, 1, 512, 512};
  CHECK(s.slot_before(s.step(0)) * s.batch * s.saved_columns() == std::int64_t{70000} * 70000 * 2048);
}

TEST_CASE("rnn: the most hidden units whose weights a work-group keeps, by device and cell") {
  struct Limits {
    std::uint32_t vendor;  // DeviceInfo::vendor_id.
    std::uint64_t work_group, local_memory;
    std::int64_t lstm, gru, tanh;
  };
  // The table in docs/recurrent.md.
  for (const Limits& limits : {Limits{0x10de, 1024, 49152, 96, 128, 192}, Limits{0x1002, 256, 65536, 96, 96, 192},
                               Limits{0x8086, 256, 65536, 64, 80, 128}, Limits{0x8086, 1024, 65536, 80, 96, 176},
                               Limits{0, 256, 32768, 32, 32, 64}}) {
    CAPTURE(limits.vendor);
    CAPTURE(limits.work_group);
    DeviceInfo info;
    info.type = DeviceType::gpu;
    info.vendor_id = limits.vendor;
    info.max_work_group = limits.work_group;
    info.local_memory = limits.local_memory;
    info.compute_units = 16;
    const dispatch::Target target{info, 1, std::numeric_limits<std::int64_t>::max()};
    const auto check = [&](RnnCell cell, std::int64_t most) {
      CAPTURE(std::string(name_of(cell)));
      const auto takes = [&](std::int64_t hidden) {
        ops::RnnForward problem{};
        static_cast<ops::RnnSizes&>(problem) = {static_cast<std::int64_t>(cell), 0, 10, 1000, 8, hidden, hidden};
        return static_cast<bool>(ops::plan_rnn_forward_persistent_weights(problem, target, dispatch::own_config));
      };
      CHECK(takes(1));
      CHECK(takes(most));
      CHECK(!takes(most + 1));
    };
    check(RnnCell::lstm, limits.lstm);
    check(RnnCell::gru, limits.gru);
    check(RnnCell::tanh, limits.tanh);
  }
}
