// An op whose kernel cannot be built changes nothing. If it is one plan, it queues nothing: neither its other launches
// nor copies of its operands. If it calls other ops, it has queued work that writes only new tensors.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "crisol/crisol.h"
#include "crisol/ops.h"
#include "doctest/doctest.h"
#include "runtime/program/kernel_source.h"
#include "support/launches.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"
#include "tensor/impl.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

namespace fs = std::filesystem;

/// The kernels of a folder, which are all broken at first.
class BrokenKernels {
 public:
  explicit BrokenKernels(fs::path folder) : folder_(std::move(folder)) {
    for (const auto& [name, text] : runtime::embedded_kernels()) {
      const bool is_header = name.ends_with(".h");
      write(name, is_header ? std::string(text) : "#error <broken " + std::string(name) + ">\n");
    }
  }

  /// Repairs the kernel file that a message is about.
  void repair(const std::string& message) const {
    const std::string mark = "<broken ";
    const std::size_t at = message.find(mark);
    REQUIRE_MESSAGE(at != std::string::npos, message);
    const std::size_t first = at + mark.size();
    const std::string name = message.substr(first, message.find('>', first) - first);
    write(name, std::string(runtime::embedded_kernels().at(name)));
  }

 private:
  void write(std::string_view name, const std::string& text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  const fs::path folder_;
};

// Operands that no kernel makes.

Tensor ramp(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 37 + 11) % 64) / 64;
  return ops::reshape(from_vector(values), shape);
}

/// A view of another layout.
Tensor strided(Shape shape) {
  std::swap(shape[shape.rank() - 2], shape[shape.rank() - 1]);
  return ops::transpose(ramp(shape), -2, -1);
}

Tensor halves(const Shape& shape) {
  const std::vector<std::uint16_t> ones(static_cast<std::size_t>(shape.numel()), 0x3c00);
  return from_bytes(ones.data(), shape, DType::f16);
}

Tensor indices(const Shape& shape, std::int64_t below) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i) % below;
  return ops::reshape(from_vector(values), shape);
}

enum class Made { of_one_plan, of_ops };

/// Calls the op until all of its kernels are repaired, one file after the other. Returns the number of calls that
/// failed. A call that fails must not write `given`.
int failures_of(Made made, const std::vector<Tensor>& given, const std::function<void()>& op) {
  const BrokenKernels kernels(std::getenv("CRISOL_KERNEL_PATH"));
  for (int failures = 0;; ++failures) {
    REQUIRE(failures < 32);
    std::string message;
    std::vector<std::uint64_t> versions;
    for (const Tensor& x : given) versions.push_back(x.impl()->storage->version.load());
    const std::int64_t launches = launches_of([&] {
      try {
        op();
      } catch (const Error& error) {
        REQUIRE_MESSAGE(error.code() == ErrorCode::build_failure, error.what());
        message = error.what();
      }
    });
    if (message.empty()) return failures;
    if (made == Made::of_one_plan) CHECK_MESSAGE(launches == 0, message.substr(0, 200));
    for (std::size_t i = 0; i < given.size(); ++i)
      CHECK_MESSAGE(given[i].impl()->storage->version.load() == versions[i], message.substr(0, 200));
    kernels.repair(message);
  }
}

}  // namespace

TEST_CASE("child: ops whose kernels are broken" * doctest::skip()) {
  // On some devices an op has no program that none before it has, and shows nothing.
  std::string without_failure;
  int count = 0;
  const auto check_all = [&](const char* name, Made made, const std::vector<Tensor>& given,
                             const std::function<void()>& op) {
    CAPTURE(std::string(name));
    if (failures_of(made, given, op) > 0) return;
    without_failure += std::string(", ") + name;
    ++count;
  };
  const auto check = [&](const char* name, const std::function<void()>& op) {
    check_all(name, Made::of_one_plan, {}, op);
  };
  const auto check_ops = [&](const char* name, const std::function<void()>& op) {
    check_all(name, Made::of_ops, {}, op);
  };
  // The first op, because all later ones find the kernels of copies.
  const Tensor joined = ramp({4, 9});
  check_all("cat_into", Made::of_one_plan, {joined}, [&] {
    ops::cat_into(joined, {ramp({4, 5}), strided({4, 4})}, 1);
  });
  const Tensor images = strided({2, 3, 8, 8}), filters = ramp({4, 3, 3, 3}), dy = strided({2, 4, 6, 6});
  check("conv2d", [&] { ops::conv2d(images, filters); });
  check("conv2d_backward_data", [&] { ops::conv2d_backward_data(dy, filters, {2, 3, 8, 8}); });
  check("conv2d_backward_weight", [&] { ops::conv2d_backward_weight(dy, images, {4, 3, 3, 3}); });
  const Tensor volumes = ramp({1, 2, 4, 5, 5}), cubes = ramp({3, 2, 2, 3, 3});
  check_ops("conv3d_backward_data", [&] {
    ops::conv3d_backward_data(strided({1, 3, 3, 3, 3}), cubes, volumes.shape());
  });
  check("max_pool2d", [&] { ops::max_pool2d(images, {2}); });
  check("avg_pool2d", [&] { ops::avg_pool2d(images, {2}); });
  check("linear", [&] { ops::linear(ops::transpose(ramp({3, 2, 5}), 0, 1), ramp({7, 5})); });
  check("matmul of f16", [&] { ops::matmul(halves({3, 5}), halves({5, 4})); });
  check("softmax", [&] { ops::softmax(strided({6, 10}), 1); });
  check("log_softmax of f16", [&] { ops::log_softmax(halves({6, 10}), 1); });
  check("layer_norm", [&] { ops::layer_norm(strided({6, 10}), {10}, Tensor(), Tensor()); });
  check("batch_norm2d", [&] { ops::batch_norm2d(images, Tensor(), Tensor(), Tensor(), Tensor(), {}); });
  check("cross_entropy", [&] { ops::cross_entropy(strided({6, 10}), indices({6}, 10)); });
  check("nll_loss", [&] { ops::nll_loss(strided({6, 10}), indices({6}, 10), Reduction::none); });
  check("mse_loss", [&] { ops::mse_loss(strided({6, 10}), ramp({6, 10})); });
  check("gather", [&] { ops::gather(strided({6, 10}), 0, indices({6, 10}, 6)); });
  check_ops("embedding_backward", [&] { ops::embedding_backward(halves({5, 4}), indices({5}, 3), 3); });
  check_ops("scatter_add", [&] { ops::scatter_add(halves({6, 10}), 1, indices({5, 4}, 4), halves({5, 4})); });
  const Tensor written = strided({6, 10});
  check_all("index_write", Made::of_ops, {written}, [&] {
    ops::index_write(written, 0, indices({2}, 6), ramp({2, 10}), false);
  });
  check("sort", [&] { ops::sort(ramp({6, 10}), 0); });
  check("topk", [&] { ops::topk(ramp({40, 3}), 5, 0); });
  check("cumprod of f16", [&] { ops::cumprod(halves({3, 10}), 1); });
  check("cumsum", [&] { ops::cumsum(strided({3, 10}), 1); });
  check_ops("var_backward", [&] { ops::var_backward(ramp({3}), ramp({3, 10}), {1}); });
  check_ops("nonzero", [&] { ops::nonzero(ramp({3, 10})); });
  check_ops("multinomial", [&] { ops::multinomial(strided({3, 10}), 2); });
  check_ops("qr", [&] { ops::qr(ramp({2, 9, 5})); });
  const Tensor q = strided({2, 9, 5}), r = strided({2, 5, 5});
  check_all("qr_into", Made::of_ops, {q, r}, [&] { ops::qr_into(q, r, ramp({2, 9, 5})); });
  check_ops("svd", [&] { ops::svd(ramp({2, 9, 5})); });
  check_ops("eigh", [&] { ops::eigh(ramp({2, 5, 5})); });
  check_ops("non_max_suppression", [&] { ops::non_max_suppression(ramp({1, 6, 4}), ramp({1, 2, 6})); });
  check("grid_sample_backward", [&] {
    ops::grid_sample_backward(ramp({2, 3, 4, 4}), ramp({2, 4, 4, 2}), {2, 3, 8, 8});
  });
  const RnnWeights weights{ramp({16, 3}), ramp({16, 4}), ramp({16}), ramp({16}), Tensor()};
  const RnnInput input{ops::transpose(ramp({2, 5, 3}), 0, 1), ramp({2, 4}), ramp({2, 4}), Tensor()};
  check("rnn_forward", [&] { ops::rnn_forward(input, weights); });
  const ops::RnnResult result = ops::rnn_forward(input, weights);
  check_ops("rnn_backward", [&] {
    ops::rnn_backward({ramp({5, 2, 4}), Tensor(), Tensor()}, input, weights, {}, result.saved);
  });
  CHECK_MESSAGE(count <= 5, "no kernel could fail" << without_failure);
}

TEST_CASE("an op changes nothing when one of its kernels cannot be built") {
  if (slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  // Repaired kernels have the text of the library's, so the cache may hold them.
  const TemporaryFolder kernels;
  CHECK_PASSED(run_child("child: ops whose kernels are broken", {{"CRISOL_KERNEL_PATH", kernels.path()}}));
}
