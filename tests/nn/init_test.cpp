// Initial values of parameters: measures their distributions.
#include "crisol/nn/init.h"

#include <cmath>

#include "doctest/doctest.h"
#include "nn/moments.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_error;
using testing::check_normal;
using testing::check_uniform;

// 4,800 elements; fan_in 16·3·2 = 96, fan_out 50·3·2 = 300.
const Shape conv_shape{50, 16, 3, 2};
constexpr double conv_in = 96, conv_out = 300;
// 4,800 elements; fan_in 80, fan_out 60.
const Shape linear_shape{60, 80};

}  // namespace

TEST_CASE("fans count the inputs and outputs of one unit") {
  const auto check = [](const Shape& shape, std::int64_t in, std::int64_t out) {
    const nn::init::Fans fans = nn::init::fans_of(shape);
    CHECK(fans.in == in);
    CHECK(fans.out == out);
  };
  check(conv_shape, 96, 300);
  check(linear_shape, 80, 60);
  check({4, 3, 5}, 15, 20);
  check({7, 1}, 1, 7);
  check_error([] { nn::init::fans_of({5}); }, {"[init]", "rank 2", "(5)"});
  check_error([] { nn::init::kaiming_uniform_(empty({5})); }, {"[init]", "(5)"});
  check_error([] { nn::init::xavier_normal_(empty({})); }, {"[init]", "()"});
}

TEST_CASE("plain distributions fill the tensor that they get") {
  manual_seed(1);
  const Tensor t = empty({4800});
  const Tensor uniform = nn::init::uniform_(t, -0.5, 0.5);
  CHECK(uniform.shares_storage_with(t));
  check_uniform(t, 0.5);
  check_normal(nn::init::normal_(t, 3, 0.25), 3, 0.25);
}

TEST_CASE("kaiming initialisers have their formula's bound and deviation") {
  manual_seed(2);
  for (const double a : {0.0, 1.0, std::sqrt(5.0)}) {
    CAPTURE(a);
    const double deviation = std::sqrt(2 / ((1 + a * a) * conv_in));
    check_uniform(nn::init::kaiming_uniform_(empty(conv_shape), a), std::sqrt(3.0) * deviation);
    check_normal(nn::init::kaiming_normal_(empty(conv_shape), a), 0, deviation);
  }
  check_normal(nn::init::kaiming_normal_(empty(conv_shape), 0, nn::init::Fan::out), 0, std::sqrt(2 / conv_out));
  check_uniform(nn::init::kaiming_uniform_(empty(linear_shape)), std::sqrt(6.0 / 80));
  // As in PyTorch's layers.
  check_uniform(nn::init::kaiming_uniform_(empty(linear_shape), std::sqrt(5.0)), 1 / std::sqrt(80.0));
}

TEST_CASE("xavier initialisers have their formula's bound and deviation") {
  manual_seed(3);
  for (const double gain : {1.0, 5.0 / 3}) {
    CAPTURE(gain);
    const double deviation = gain * std::sqrt(2 / (conv_in + conv_out));
    check_uniform(nn::init::xavier_uniform_(empty(conv_shape), gain), std::sqrt(3.0) * deviation);
    check_normal(nn::init::xavier_normal_(empty(conv_shape), gain), 0, deviation);
  }
  check_uniform(nn::init::xavier_uniform_(empty(linear_shape)), std::sqrt(6.0 / 140));
}

TEST_CASE("a seed fixes the first values, and each draw is another one") {
  const auto draw = [](std::uint64_t seed) {
    manual_seed(seed);
    const Tensor first = nn::init::xavier_normal_(empty({5, 7}));
    return std::make_pair(first.to_vector<float>(), nn::init::xavier_normal_(empty({5, 7})).to_vector<float>());
  };
  CHECK(draw(4) == draw(4));
  CHECK(draw(4).first != draw(5).first);
  CHECK(draw(4).first != draw(4).second);
}

}  // namespace crisol
