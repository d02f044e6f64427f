// A refused call changes nothing: tensors and the states of generators, optimisers, layers and schedules stay as they
// were.
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "crisol/crisol.h"
#include "crisol/ops.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/dropout.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/optimizer.h"
#include "crisol/ops/sampling.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_error;

using Parts = std::initializer_list<std::string_view>;

std::vector<std::uint8_t> bytes_of(const Tensor& x) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()));
  x.read_bytes(bytes.data());
  return bytes;
}

std::vector<std::vector<std::uint8_t>> bytes_of(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<std::uint8_t>> all;
  for (const Tensor& x : tensors) all.push_back(bytes_of(x));
  return all;
}

/// Checks that the call is refused with a text that contains the parts, and that the tensors keep their bytes.
void refused(const std::vector<Tensor>& written, const std::function<void()>& call, Parts parts) {
  const auto before = bytes_of(written);
  check_error(call, parts);
  CHECK(bytes_of(written) == before);
}

std::vector<Tensor> tensors_of(const NamedTensors& named) {
  std::vector<Tensor> tensors;
  for (const auto& entry : named) tensors.push_back(entry.second);
  return tensors;
}

}  // namespace

TEST_CASE("a refused copy, fill or sum into a tensor leaves it") {
  const Tensor x = arange(0, 6).to(DType::f32).reshape({2, 3}), wide = ones({3, 3});
  Tensor whole = zeros({4}, DType::i32), flags = zeros({4}, DType::boolean), same = x.expand({2, 2, 3});
  refused({x}, [&] { ops::copy_into(x, ones({2, 2})); }, {"(2, 2)", "(2, 3)"});
  refused({x}, [&] { ops::copy_into(x, Tensor()); }, {"undefined"});
  refused({x}, [&] { ops::copy_into(same, ones({2, 2, 3})); }, {"expanded"});
  refused({x}, [&] { ops::accumulate_into(x, wide); }, {"(3, 3)", "(2, 3)"});
  refused({x}, [&] { ops::accumulate_into(x.narrow(1, 0, 2), x.narrow(1, 1, 2)); }, {"share a part"});
  refused({x}, [&] { Tensor(x).copy_from(std::vector<float>(5)); }, {"5", "6"});
  refused({x}, [&] { Tensor(x).copy_from(std::vector<std::int64_t>(6)); }, {"f32", "i64"});
  refused({whole}, [&] { whole.add_(0.5); }, {"i32"});
  refused({whole}, [&] { whole.add_(1e10); }, {});
  refused({flags}, [&] { flags.add_(ones({4}, DType::i32)); }, {"bool"});
  Tensor y = x.clone();
  refused({y}, [&] { y.mul_(wide); }, {"(3, 3)"});
  Tensor leaf = ones({2}).requires_grad_();
  refused({leaf}, [&] { leaf.fill_(3); }, {"gradient"});
  refused({leaf}, [&] { leaf.add_(1); }, {"gradient"});
}

TEST_CASE("a refused draw leaves the tensor and the generator") {
  Tensor x = ones({3}), whole = ones({3}, DType::i64);
  const Generator generator(7);
  rand({5}, generator);
  const GeneratorState before = generator.state();
  refused({x}, [&] { uniform_(x, 2, 1, generator); }, {"2", "1"});
  refused({x}, [&] { normal_(x, 0, -1, generator); }, {"-1"});
  refused({whole}, [&] { uniform_(whole, 0, 1, generator); }, {"i64"});
  refused({}, [&] { randint(3, 3, {2}, generator); }, {"3"});
  refused({}, [&] { bernoulli(1.5, {2}, generator); }, {"1.5"});
  refused({}, [&] { randperm(-1, generator); }, {"-1"});
  refused({x}, [&] { ops::dropout(x, 1.5, generator); }, {"1.5"});
  refused({x}, [&] { ops::multinomial(x, 4, false, generator); }, {"4", "3"});
  refused({x}, [&] { ops::sample_logits(x, -1, 0, generator); }, {"-1"});
  CHECK(generator.state() == before);
}

TEST_CASE("a refused step of an optimiser's op leaves parameters, state and counters") {
  const Device device;
  const Tensor p = ones({4}), g = full({4}, 2), m = zeros({4}), v = full({4}, 0.5), few = ones({3});
  const Tensor whole = ones({4}, DType::i32), hyper = ops::make_hyper(device), progress = ops::make_progress(device);
  ops::write_hyper(hyper, 0.1, 0.9);
  const std::vector<Tensor> all{p, g, m, v, hyper, progress};
  refused(all, [&] { ops::write_hyper(hyper, -1, 0.9); }, {"-1"});
  refused(all, [&] { ops::write_hyper(hyper, 0.1, 1); }, {"1"});
  refused(all, [&] { ops::advance_step(progress, few); }, {"(3)"});
  refused(all, [&] { ops::advance_step(progress, hyper, 1); }, {"1"});
  refused(all, [&] { ops::sgd_step(p, few, m, hyper, progress); }, {"[sgd_step]", "3", "4"});
  refused(all, [&] { ops::sgd_step(p, g, whole, hyper, progress); }, {"[sgd_step]", "i32"});
  refused(all, [&] { ops::sgd_step(p, g, m, few, progress); }, {"[sgd_step]", "(3)"});
  refused(all, [&] { ops::adam_step(p, g, m, few, {}, hyper, progress); }, {"[adam_step]", "3", "4"});
  refused(all, [&] { ops::adam_step(p, g, m, v, {}, hyper, few); }, {"[adam_step]", "(3)"});
  ops::AdamRule adam;
  adam.eps = -1;
  refused(all, [&] { ops::adam_step(p, g, m, v, {}, hyper, progress, adam); }, {"[adam_step]", "-1"});
  refused(all, [&] { ops::adam_step(p, g, m, v, few, hyper, progress); }, {"[adam_step]", "maximal squares", "3"});
  refused(all, [&] { ops::lion_step(p, g, few, hyper); }, {"[lion_step]", "3", "4"});
  refused(all, [&] { ops::lion_step(p, g, m, hyper, {1}); }, {"[lion_step]", "beta2 is 1"});
  refused(all, [&] { ops::average_step(p, few, hyper, progress); }, {"[average_step]", "3", "4"});
  refused(all, [&] { ops::average_step(p, g, hyper, few); }, {"[average_step]", "(3)"});
  refused(all, [&] { ops::rmsprop_step(p, g, few, {}, {}, hyper); }, {"[rmsprop_step]", "3", "4"});
  refused(all, [&] { ops::scale_by_clip(g, few, 1); }, {"[scale_by_clip]"});
  refused(all, [&] { ops::scale_by_clip(g, ones({}), -1); }, {"[scale_by_clip]", "-1"});
}

TEST_CASE("a layer's running statistics and counter stay when its input is refused") {
  nn::BatchNorm2d norm(3);
  norm.forward(ones({2, 3, 2, 2}));
  const std::vector<Tensor> state = tensors_of(norm.state_dict());
  REQUIRE(state.size() == 5);
  refused(state, [&] { norm.forward(ones({2, 4, 2, 2})); }, {"(4)", "(3)"});
  refused(state, [&] { norm.forward(ones({1, 3, 1, 1})); }, {"one value"});
  refused(state, [&] { norm.forward(ones({2, 3, 2, 2}, DType::i32)); }, {"i32"});
  refused(state, [&] { batch_norm2d(ones({2, 3, 2, 2}), {}, {}, state[2], ones({4})); }, {"[batch_norm2d]", "(4)"});
}

TEST_CASE("a state that does not fit leaves modules, optimisers and schedules") {
  nn::Linear layer(3, 2);
  optim::Adam adam(layer.parameters(), {0.01});
  sum(layer(ones({1, 3}))).backward();
  adam.step();
  optim::StepLR schedule(adam, 2);
  schedule.step();
  const auto state = [&] {
    std::vector<Tensor> all = tensors_of(layer.state_dict());
    for (const NamedTensors& more : {adam.state_dict(), schedule.state_dict()})
      for (const auto& entry : more) all.push_back(entry.second);
    return all;
  };
  const auto before = bytes_of(state());
  // The last entry is wrong, so the entries before it must not be loaded.
  const auto broken = [](NamedTensors named) {
    for (auto& entry : named) entry.second = zeros(entry.second.shape(), entry.second.dtype());
    named.back().second = zeros({7});
    return named;
  };
  check_error([&] { layer.load_state_dict(broken(layer.state_dict())); }, {"bias", "(7)", "(2)"});
  check_error([&] { adam.load_state_dict(broken(adam.state_dict())); }, {"(7)"});
  check_error([&] { schedule.load_state_dict(broken(schedule.state_dict())); },
              {"different: lr is (3) f32, given (7) f32"});
  check_error([&] { adam.set_lr(-1); }, {"-1"});
  check_error([&] { adam.set_lr(std::numeric_limits<double>::quiet_NaN()); }, {"nan"});
  check_error([&] { adam.set_momentum(1); }, {"1"});
  check_error([&] { schedule.set_steps(-1); }, {"-1"});
  CHECK(bytes_of(state()) == before);
}

}  // namespace crisol
