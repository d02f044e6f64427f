#include "crisol/ops/reduce.h"

#include <cmath>
#include <limits>

#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "reference/reduce.h"
#include "support/compare.h"
#include "support/skip.h"
#include "support/variants.h"
#include "tensor/impl.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

struct Case {
  Shape shape, axes, result, kept;  ///< Shapes of the result without and with keepdim.
};

const Case cases[] = {
    {{3, 5, 7}, {}, {}, {1, 1, 1}},
    {{3, 5, 7}, {2}, {3, 5}, {3, 5, 1}},
    {{3, 5, 7}, {0}, {5, 7}, {1, 5, 7}},
    {{3, 5, 7}, {1}, {3, 7}, {3, 1, 7}},
    {{3, 5, 7}, {0, 2}, {5}, {1, 5, 1}},
    {{3, 5, 7}, {-1, -2}, {3}, {3, 1, 1}},
    {{2, 3, 2, 19}, {2, 0}, {3, 19}, {1, 3, 1, 19}},
    {{4, 3, 5, 6}, {0, 2, 3}, {3}, {1, 3, 1, 1}},
    {{1}, {0}, {}, {1}},
    {{}, {}, {}, {}},
    {{1, 6, 1}, {1}, {1, 1}, {1, 1, 1}},
    {{2, 100}, {1}, {2}, {2, 1}},
    {{100, 2}, {0}, {2}, {1, 2}},
    {{5, 141}, {0}, {141}, {1, 141}},
    {{2, 2, 2, 2, 2, 2, 2, 2}, {1, 3, 5, 7}, {2, 2, 2, 2}, {2, 1, 2, 1, 2, 1, 2, 1}},
};

template <class Reduce>
std::vector<double> expect(const std::vector<double>& x, const Case& c, Reduce reduce) {
  std::vector<double> expected;
  for (const auto& group : reference::reduction_groups(x, c.shape, c.axes))
    expected.push_back(static_cast<double>(reduce(group)));
  return expected;
}

// Undefined where the forced variant takes other cases only.
Tensor sum_unless_refused(const Tensor& x, const Shape& axes) {
  try {
    return ops::sum(x, axes);
  } catch (const Error& error) {
    CHECK_MESSAGE(std::string(error.what()).find("is forced, but") != std::string::npos, error.what());
    return {};
  }
}

// Each of the additions above an element rounds once: a block of 16, and a tree.
constexpr double additions = 24;

}  // namespace

TEST_CASE("reduce: every op over every set of axes, layout and variant") {
  for_each_variant("reduce", {"columns", "rows", "items", "groups"}, [] {
    for (const Case& c : cases) {
      const std::vector<double> x = random_values(1, c.shape.numel());
      for (const Layout layout : all_layouts) {
        if (slow_device() && layout == Layout::offset) continue;
        CAPTURE(c.shape);
        CAPTURE(c.axes);
        CAPTURE(name_of(layout));
        const Tensor t = view_of(x, c.shape, layout);
        const Tensor total = sum_unless_refused(t, c.axes);
        if (!total.defined()) continue;
        const Tolerance rounding{additions, static_cast<double>(c.shape.numel())};
        check_close(total, c.result, expect(x, c, reference::sum), rounding);
        check_close(ops::max(t, c.axes, true), c.kept, expect(x, c, reference::largest), {0});
        check_close(ops::min(t, c.axes), c.result, expect(x, c, reference::smallest), {0});
      }
    }
  });
}

TEST_CASE("reduce: mean, keepdim, argmax") {
  for (const Case& c : cases) {
    // Few values, so that equal ones are common.
    const std::vector<double> x = random_integers(2, c.shape.numel(), 0, 9);
    for (const Layout layout : all_layouts) {
      CAPTURE(c.shape);
      CAPTURE(c.axes);
      CAPTURE(name_of(layout));
      const Tensor t = view_of(x, c.shape, layout);
      const auto mean = [](const std::vector<double>& group) {
        return reference::sum(group) / static_cast<double>(group.size());
      };
      check_close(ops::mean(t, c.axes), c.result, expect(x, c, mean), {2});
      check_close(ops::sum(t, c.axes, true), c.kept, expect(x, c, reference::sum), {0});
      const Tensor position = ops::argmax(t, c.axes, true);
      CHECK(position.dtype() == DType::i64);
      check_close(position, c.kept, expect(x, c, reference::first_largest), {0});
      check_close(ops::argmax(t, c.axes), c.result, expect(x, c, reference::first_largest), {0});
    }
  }
}

TEST_CASE("reduce: many elements into few outputs, in parts") {
  if (slow_device()) CRISOL_SKIP("too large for this device");
  const Case large[] = {{{100003}, {}, {}, {}},         {{70001, 3}, {0}, {3}, {}},     {{3, 70001}, {1}, {3}, {}},
                        {{9, 8, 999}, {0, 2}, {8}, {}}, {{999, 8, 9}, {0, 2}, {8}, {}}, {{2000, 65}, {0}, {65}, {}}};
  for_each_variant("reduce", {"columns", "rows", "items", "groups"}, [&] {
    for (const Case& c : large) {
      const std::vector<double> x = random_integers(3, c.shape.numel(), -8, 8);
      CAPTURE(c.shape);
      CAPTURE(c.axes);
      const Tensor t = tensor_of(x, c.shape);
      const Tensor total = sum_unless_refused(t, c.axes);
      if (!total.defined()) continue;
      check_close(total, c.result, expect(x, c, reference::sum), {0});  // Whole numbers below 2^24 are exact.
      std::vector<double> peaked = x;
      peaked[peaked.size() / 3] = 100;
      check_close(ops::max(tensor_of(peaked, c.shape), c.axes), c.result, expect(peaked, c, reference::largest), {0});
    }
  });
}

TEST_CASE("reduce: sums of many equal values stay accurate, and repeat to the bit") {
  const std::int64_t count = slow_device() ? std::int64_t{1} << 12 : std::int64_t{1} << 24;
  for (const Shape& shape : {Shape{count}, Shape{1024, count / 1024}}) {
    const Tensor x = full(shape, 0.1);
    const double total = ops::sum(x).item<double>(), exact = static_cast<double>(0.1f) * static_cast<double>(count);
    CHECK(std::abs(total / exact - 1) < 1e-6);
    const double columns = values_of(ops::sum(x, {0}))[0],
                 part = shape.rank() == 1 ? exact : exact / static_cast<double>(shape[1]);
    CHECK(std::abs(columns / part - 1) < 1e-6);
    CHECK(std::abs(ops::mean(x).item<double>() / static_cast<double>(0.1f) - 1) < 1e-6);
    CHECK(ops::sum(x).item<double>() == total);
  }
}

TEST_CASE("reduce: no elements") {
  check_close(ops::sum(zeros({0, 3})), {}, {0}, {0});
  check_close(ops::sum(zeros({0, 3}), {0}), {3}, {0, 0, 0}, {0});
  check_close(ops::sum(zeros({0, 3}), {1}), {0}, {}, {0});
  const double nan = std::nan("");
  check_close(ops::mean(zeros({2, 0}), {1}), {2}, {nan, nan}, {0});
  check_close(ops::max(zeros({0, 3}), {1}), {0}, {}, {0});
  check_close(ops::argmax(zeros({0, 3}), {1}), {0}, {}, {0});
  check_error([] { ops::max(zeros({0, 3}), {0}); }, {"[max]", "no elements", "(0, 3)"});
  check_error([] { ops::min(zeros({0})); }, {"[min]", "no elements"});
  check_error([] { ops::argmax(zeros({2, 0}), {1}); }, {"[argmax]", "no elements", "(2, 0)"});
}

TEST_CASE("reduce: NaN and infinity") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for_each_variant("reduce", {"columns", "rows", "items", "groups"}, [&] {
    for (const Shape& axes : {Shape{1}, Shape{0}}) {
      std::vector<double> values(40 * 40, 1);
      for (std::size_t i = 0; i < 40; ++i) values[i * 40 + 7] = values[7 * 40 + i] = nan;
      const Tensor x = tensor_of(values, {40, 40});
      const std::vector<double> all(40, nan);
      const Tensor total = sum_unless_refused(x, axes);
      if (!total.defined()) continue;
      check_close(total, all, {0});
      check_close(ops::max(x, axes), all, {0});
      check_close(ops::min(x, axes), all, {0});
    }
  });
  check_close(ops::sum(tensor_of({1, infinity, 2}, {3})), {infinity}, {0});
  check_close(ops::sum(tensor_of({1, infinity, -infinity}, {3})), {nan}, {0});
  check_close(ops::max(tensor_of({-infinity, -infinity}, {2})), {-infinity}, {0});
  check_close(ops::argmax(tensor_of({-infinity, -infinity}, {2})), {0}, {0});
  check_close(ops::argmax(tensor_of({3, nan, 5, nan}, {4})), {1}, {0});
}

TEST_CASE("sum_to takes a broadcast back") {
  const std::vector<double> x = random_integers(4, 105, -9, 9);
  const Tensor t = tensor_of(x, {3, 5, 7});
  CHECK(ops::sum_to(t, {3, 5, 7}).impl() == t.impl());
  const Case to[] = {{{3, 5, 7}, {0}, {5, 7}, {}}, {{3, 5, 7}, {0, 1}, {7}, {}}, {{3, 5, 7}, {}, {}, {}}};
  for (const Case& c : to) check_close(ops::sum_to(t, c.result), c.result, expect(x, c, reference::sum), {0});
  check_close(ops::sum_to(t, {5, 1}), {5, 1}, expect(x, {{3, 5, 7}, {0, 2}, {}, {}}, reference::sum), {0});
  check_close(ops::sum_to(t, {3, 1, 1}), {3, 1, 1}, expect(x, {{3, 5, 7}, {1, 2}, {}, {}}, reference::sum), {0});
  check_close(ops::sum_to(tensor_of({1, 2}, {1, 1, 2}), {2}), {2}, {1, 2}, {0});
  check_close(ops::sum_to(zeros({0, 2}), {1, 2}), {1, 2}, {0, 0}, {0});
  check_error([&] { ops::sum_to(t, {4, 7}); }, {"[sum_to]", "(4, 7)", "(3, 5, 7)"});
  check_error([&] { ops::sum_to(tensor_of({1}, {1}), {3}); }, {"[sum_to]", "(3)", "(1)"});
}

TEST_CASE("reduce: gradients") {
  const Shape shape{3, 4, 5};
  for (const Shape& axes : {Shape{}, Shape{1}, Shape{0, -1}, Shape{2}}) {
    CAPTURE(axes);
    // Few values: several are the largest.
    const std::vector<double> x = random_integers(5, 60, 0, 3);
    const Tensor t = tensor_of(x, shape);
    const std::vector<std::int64_t> outputs = reference::reduction_outputs(shape, axes);
    const auto groups = reference::reduction_groups(x, shape, axes);
    const std::vector<double> dy = random_values(6, static_cast<std::int64_t>(groups.size()));
    for (const bool keepdim : {false, true}) {
      const Tensor y = ops::max(t, axes, keepdim);
      const Tensor gradient = tensor_of(dy, y.shape());
      std::vector<double> for_sum, for_mean, for_max;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto o = static_cast<std::size_t>(outputs[i]);
        const double top = reference::largest(groups[o]);
        double equal = 0;
        for (const double value : groups[o]) equal += value == top;
        for_sum.push_back(dy[o]);
        for_mean.push_back(dy[o] / static_cast<double>(groups[o].size()));
        for_max.push_back(x[i] == top ? dy[o] / equal : 0);
      }
      check_close(ops::sum_backward(gradient, shape, axes), shape, for_sum, {0});
      check_close(ops::mean_backward(gradient, shape, axes), shape, for_mean, {2});
      check_close(ops::max_backward(gradient, t, y, axes), shape, for_max, {4});
    }
  }
  check_error([] { ops::sum_backward(zeros({2}), {3, 4}, {0}); }, {"[sum_backward]", "(2)", "(3, 4)"});
  check_error([] { ops::max_backward(zeros({4}), zeros({3, 4}), zeros({3}), {0}); }, {"[max_backward]", "(3)"});
}

TEST_CASE("reduce: refusals") {
  const Tensor x = zeros({2, 3});
  check_error([&] { ops::sum(x, {2}); }, {"[sum]", "axis 2", "rank 2"});
  check_error([&] { ops::mean(x, {-3}); }, {"[mean]", "axis -3"});
  check_error([&] { ops::max(x, {1, -1}); }, {"[max]", "named twice"});
  check_error([&] { ops::sum(zeros({2}, DType::i32)); }, {"[sum]", "i32", "f32"});
  check_error([&] { ops::argmax(Tensor()); }, {"[argmax]", "undefined"});
}
