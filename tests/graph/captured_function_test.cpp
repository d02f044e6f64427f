// Captured functions read the tensors of each call, and give results of their own.
#include "crisol/captured_function.h"

#include "crisol/crisol.h"
#include "crisol/ops.h"
#include "doctest/doctest.h"

using namespace crisol;
using detail::CapturedFunction;

namespace {

using Tensors = std::vector<Tensor>;

struct Captured {
  Captured(const CapturedFunction::Function& function, const Tensors& inputs,
           const std::vector<std::size_t>& constants = {})
      : call(function, inputs, constants, first) {}
  Tensors first;
  CapturedFunction call;
};

/// -x, exp(-x) twice, x itself, and -x with its axes exchanged.
Tensors many_results(const Tensors& inputs) {
  const Tensor y = ops::neg(inputs[0]), z = ops::exp(y);
  return {y, z, z, inputs[0], ops::transpose(y, 0, 1)};
}

void check_results(const Tensors& results, const Tensor& x) {
  REQUIRE(results.size() == 5);
  CHECK(results[0].allclose(ops::neg(x), 0, 0));
  CHECK(results[1].allclose(ops::exp(ops::neg(x)), 1e-6, 0));
  CHECK(results[2].allclose(results[1], 0, 0));
  CHECK(results[3].allclose(x, 0, 0));
  CHECK(results[4].allclose(ops::transpose(ops::neg(x), 0, 1), 0, 0));
  CHECK(results[4].shares_storage_with(results[0]));
}

}  // namespace

TEST_CASE("results of a captured function belong to the caller, and later calls do not change them") {
  manual_seed(1);
  Tensors inputs{randn({5, 7})};
  Captured captured(many_results, inputs);
  std::vector<Tensors> kept{captured.first};
  for (int i = 0; i < 5; ++i) {
    inputs.push_back(randn({5, 7}));
    kept.push_back(captured.call({inputs.back()}).value());
    const Tensors written = captured.call({ops::clone(inputs.back())}).value();
    for (const Tensor& y : written) Tensor(y).fill_(100);
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    check_results(kept[i], inputs[i]);
    CHECK(kept[i][3].shares_storage_with(inputs[i]));
  }
}

TEST_CASE("a captured function takes parts of tensors, and refuses other layouts") {
  manual_seed(2);
  const Tensor whole = randn({9, 14});
  const auto part = [&](int row) { return whole.narrow(0, row, 5).narrow(1, 3, 7); };
  Captured captured(many_results, {part(0)});
  check_results(captured.first, part(0));
  for (int row = 1; row < 4; ++row) check_results(captured.call({part(row)}).value(), part(row));
  check_results(captured.first, part(0));
  CHECK_FALSE(captured.call({randn({5, 7})}));
  CHECK_FALSE(captured.call({part(0), part(0)}));
  CHECK_FALSE(captured.call({whole.narrow(0, 0, 5).narrow(1, 3, 6)}));
  const Tensor row = randn({7});
  Captured expanded(many_results, {row.expand({5, 7})});
  check_results(expanded.first, row.expand({5, 7}));
  const Tensor other = randn({7});
  check_results(expanded.call({other.expand({5, 7})}).value(), other.expand({5, 7}));
}

TEST_CASE("a captured function reads parts of one tensor, and transposes, without copies") {
  manual_seed(5);
  const auto function = [](const Tensors& inputs) {
    return Tensors{ops::add(ops::mul(inputs[0], inputs[1]), ops::transpose(inputs[2], 0, 1))};
  };
  const auto parts = [](const Tensor& joint, const Tensor& weight) {
    return Tensors{joint.narrow(1, 0, 6), joint.narrow(1, 6, 6), ops::transpose(weight, 0, 1)};
  };
  const auto make = [] { return randn({4, 12}); };
  const auto expected = [&](const Tensor& joint, const Tensor& weight) {
    return ops::add(ops::mul(joint.narrow(1, 0, 6), joint.narrow(1, 6, 6)), weight);
  };
  const Tensor joint = make(), weight = randn({4, 6});
  Captured captured(function, parts(joint, weight));
  CHECK(captured.first[0].allclose(expected(joint, weight), 1e-6, 0));
  for (int i = 0; i < 3; ++i) {
    const Tensor other = make(), heavy = randn({4, 6});
    CHECK(captured.call(parts(other, heavy)).value()[0].allclose(expected(other, heavy), 1e-6, 0));
  }
  // Two parts of one tensor are not parts of two tensors, and a part may begin elsewhere.
  CHECK_FALSE(captured.call({make().narrow(1, 0, 6), make().narrow(1, 6, 6), ops::transpose(weight, 0, 1)}));
  CHECK_FALSE(captured.call({joint.narrow(1, 6, 6), joint.narrow(1, 0, 6), ops::transpose(weight, 0, 1)}));
  const Profile profile;
  captured.call(parts(joint, weight));
  std::int64_t launches = 0;
  for (const ProfileRow& one : profile.rows()) launches += one.launches;
  CHECK(launches == static_cast<std::int64_t>(captured.call.size()));
}

TEST_CASE("a captured function writes the inputs of each call") {
  const auto step = [](const Tensors& inputs) {
    ops::add_into(inputs[0], inputs[0], inputs[1]);
    return Tensors{ops::mul(inputs[0], 2)};
  };
  const Tensor sum = zeros({6}), other = full({6}, 10.0), one = ones({6});
  Captured captured(step, {sum, one});
  CHECK(captured.call.written() == std::vector<std::size_t>{0});
  CHECK(captured.first[0].allclose(full({6}, 2.0), 0, 0));
  CHECK(captured.call({sum, one}).value()[0].allclose(full({6}, 4.0), 0, 0));
  CHECK(captured.call({other, one}).value()[0].allclose(full({6}, 22.0), 0, 0));
  CHECK(sum.allclose(full({6}, 2.0), 0, 0));
  CHECK(other.allclose(full({6}, 11.0), 0, 0));
  CHECK_THROWS_WITH_AS(Captured(step, {zeros({8}).narrow(0, 1, 6), one}),
                       "[capture] input 0 is written, and it is a part of another tensor", Error);
  CHECK_THROWS_AS(
      Captured([](const Tensors& inputs) { return Tensors{full({}, inputs[0].item<float>())}; }, {ones({})}), Error);
}

TEST_CASE("random numbers of a captured function continue") {
  const Generator generator(3);
  const auto draw = [&](const Tensors& inputs) { return Tensors{ops::dropout(inputs[0], 0.5, generator).y}; };
  const Tensor x = ones({1000});
  draw({x});
  Captured captured(draw, {x});
  const Tensor second = captured.call({x}).value()[0];
  CHECK_FALSE(captured.first[0].allclose(second, 0, 0));
}

TEST_CASE("a captured function reads a weight that changed") {
  manual_seed(4);
  const auto product = [](const Tensors& inputs) { return Tensors{ops::matmul(inputs[0], inputs[1])}; };
  const Tensor x = randn({33, 65}), weight = randn({65, 129});
  for (const std::vector<std::size_t>& constants : {std::vector<std::size_t>{}, std::vector<std::size_t>{1}}) {
    Captured captured(product, {x, weight}, constants);
    const Tensor y = randn({33, 65});
    CHECK(captured.call({y, weight}).value()[0].allclose(ops::matmul(y, weight), 1e-4, 1e-4));
    Tensor(weight).mul_(2.0);
    if (const auto results = captured.call({y, weight}))
      CHECK((*results)[0].allclose(ops::matmul(y, weight), 1e-4, 1e-4));
    else
      CHECK_FALSE(constants.empty());
    const Tensor other = randn({65, 129});
    if (const auto results = captured.call({y, other}))
      CHECK((*results)[0].allclose(ops::matmul(y, other), 1e-4, 1e-4));
    else
      CHECK_FALSE(constants.empty());
  }
}

TEST_CASE("a captured function keeps memory for what is within it, and not for its inputs and results") {
  constexpr std::int64_t count = 1 << 20;
  const Device device;
  const auto function = [](const Tensors& inputs) {
    return Tensors{ops::neg(inputs[0]), ops::exp(inputs[0]), ops::sin(inputs[0])};
  };
  const std::uint64_t before = device.memory_stats().in_use;
  {
    Captured captured(function, {ones({count})});
    captured.first.clear();
    device.synchronize();
    const MemoryStats stats = device.memory_stats();
    CHECK(stats.in_use + stats.captured < before + 4096);
    CHECK(captured.call({ones({count})}).value()[0].allclose(full({count}, -1.0), 0, 0));
  }
}
