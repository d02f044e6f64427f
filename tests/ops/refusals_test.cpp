// Refusals that the ops' own tests do not cover: undefined tensors, ranks, sizes.
#include "crisol/io/dataset.h"
#include "crisol/ops/cat.h"
#include "crisol/ops/conv.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/elementwise.h"
#include "crisol/ops/index.h"
#include "crisol/ops/loss.h"
#include "crisol/ops/pool.h"
#include "crisol/ops/reduce.h"
#include "crisol/ops/view.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_error;

}  // namespace

TEST_CASE("refusals: tensors that are undefined, or none") {
  const Tensor x = ones({2, 3});
  check_error([] { ops::stack({}); }, {"[stack]", "no tensors"});
  check_error([] { ops::fill_into(Tensor(), 1); }, {"[fill_into]", "undefined"});
  check_error([] { ops::sum_to(Tensor(), {1}); }, {"[sum_to]", "undefined"});
  check_error([&] { ops::var_backward(x, Tensor()); }, {"[var_backward]", "undefined"});
  check_error([&] { ops::accumulate_into(Tensor(), x); }, {"undefined"});
  check_error([&] { Tensor().add_(x); }, {"undefined"});
}

TEST_CASE("refusals: ranks, sizes and dtypes of gradients and indices") {
  const Tensor x = ones({3, 4}), row = zeros({2}, DType::i64);
  check_error([&] { ops::scatter_add(x, 0, row, x); }, {"[scatter_add]", "(2)", "(3, 4)", "ranks"});
  check_error([&] { ops::embedding_backward(zeros({2, 4}, DType::i32), row, 5); }, {"[embedding_backward]", "i32"});
  check_error([&] { ops::embedding_backward(zeros({}), zeros({}, DType::i64), 5); }, {"[embedding_backward]", "()"});
  check_error([&] { ops::embedding_backward(zeros({2, 4}), row, -1); }, {"[embedding_backward]", "-1"});
  check_error(
      [&] {
        ops::nll_loss_backward(zeros({}), zeros({2, 1}, DType::i64), zeros({}), 3);
      },
      {"[nll_loss_backward]", "(2, 1)"});
  check_error([&] { ops::nll_loss_backward(zeros({}), row, zeros({}), 0); }, {"[nll_loss_backward]", "not 0"});
  const Tensor large = ops::expand(ones({1, 1, 1, 1}), {1, 1, 65536, 65536});
  check_error([&] { ops::max_pool2d(large, {2}); }, {"[max_pool2d]", "65536", "2^31 - 1"});
  const Tensor long_kernel = ops::expand(ones({1, 1, 1, 1}), {1, 1, std::int64_t{1} << 30, 1});
  check_error([&] { ops::conv2d(ones({1, 1, 2, 2}), long_kernel); }, {"[conv2d]", "1073741824", "too large"});
}

TEST_CASE("refusals: images that a data set cannot normalise") {
  const io::ImageSet images{1, 1, {7}, {0}}, none{0, 3, {}, {}};
  check_error([&] { io::ImageDataset wrong(images, 0, 0); }, {"[ImageDataset]", "deviation 0"});
  check_error([&] { io::ImageDataset wrong(none); }, {"[ImageDataset]", "0 x 3"});
}

}  // namespace crisol
