// The C interface: each function against the C++ one that it stands for, its refusals, and that no exception leaves it.
#include <cmath>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "crisol/c/crisol.h"
#include "crisol/crisol.h"
#include "crisol/opencl_interop.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/skip.h"
#include "support/subprocess.h"

using namespace crisol;

namespace {

constexpr crisol_device here = CRISOL_DEFAULT_DEVICE;

/// A handle that gives itself back.
class Handle {
 public:
  Handle() = default;
  Handle(const std::vector<float>& values, const std::vector<std::int64_t>& sizes) {
    REQUIRE(crisol_tensor_create(here, CRISOL_F32, static_cast<int>(sizes.size()), sizes.data(), values.data(),
                                 &tensor_) == CRISOL_OK);
  }
  explicit Handle(const std::vector<std::int64_t>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    REQUIRE(crisol_tensor_create(here, CRISOL_I64, 1, &count, values.data(), &tensor_) == CRISOL_OK);
  }
  ~Handle() { crisol_tensor_destroy(tensor_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  crisol_tensor* get() const noexcept { return tensor_; }
  crisol_tensor** place() noexcept {
    crisol_tensor_destroy(tensor_);
    tensor_ = nullptr;
    return &tensor_;
  }

 private:
  crisol_tensor* tensor_ = nullptr;
};

std::vector<std::int64_t> sizes_of(const crisol_tensor* x) {
  int rank = -1;
  REQUIRE(crisol_tensor_rank(x, &rank) == CRISOL_OK);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(rank) + 1);
  REQUIRE(crisol_tensor_sizes(x, sizes.data()) == CRISOL_OK);
  sizes.pop_back();
  return sizes;
}

template <class T = float>
std::vector<T> values_of(const crisol_tensor* x) {
  std::int64_t count = -1;
  REQUIRE(crisol_tensor_count(x, &count) == CRISOL_OK);
  std::vector<T> values(static_cast<std::size_t>(count));
  REQUIRE(crisol_tensor_read(x, values.data(), values.size() * sizeof(T)) == CRISOL_OK);
  return values;
}

using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

#define OK(call) CHECK_MESSAGE((call) == CRISOL_OK, crisol_error_message())

void refused(crisol_status status, crisol_status expected, std::initializer_list<const char*> parts) {
  CHECK(status == expected);
  for (const char* part : parts)
    CHECK_MESSAGE(std::string(crisol_error_message()).find(part) != std::string::npos, crisol_error_message());
}

}  // namespace

TEST_CASE("C: devices") {
  CHECK(std::string(crisol_version()) == version());
  std::int32_t count = 0;
  OK(crisol_device_count(&count));
  CHECK(count == static_cast<std::int32_t>(devices().size()));
  crisol_device device = -5;
  OK(crisol_default_device(&device));
  CHECK(device == Device().index());
  const char *name = nullptr, *json = nullptr;
  OK(crisol_device_name(device, &name));
  CHECK(name == Device().name());
  OK(crisol_device_json(here, &json));
  CHECK(json == to_json(Device().info()));
  crisol_device found = -5;
  OK(crisol_device_find(Device().info().platform.c_str(), &found));
  CHECK(found == device);
  OK(crisol_set_default_device(found));
  OK(crisol_synchronize(found));
  crisol_memory_stats stats{};
  OK(crisol_device_memory(found, &stats));
  CHECK(stats.peak == Device().memory_stats().peak);
  OK(crisol_release_cached_memory(found));
  refused(crisol_device_find("no such device", &found), CRISOL_DEVICE_NOT_FOUND, {"no such device"});
  CHECK(found == device);
  refused(crisol_device_find(nullptr, &found), CRISOL_INVALID_ARGUMENT, {"[device_find]", "spec is null"});
  refused(crisol_device_name(count, &name), CRISOL_INVALID_ARGUMENT, {"[device_name]", "device"});
  refused(crisol_device_name(-2, &name), CRISOL_INVALID_ARGUMENT, {"device -2"});
  refused(crisol_device_count(nullptr), CRISOL_INVALID_ARGUMENT, {"count is null"});
}

TEST_CASE("C: tensors, their facts and views") {
  Handle x({1, 2, 3, 4, 5, 6}, {2, 3}), y, z;
  crisol_dtype dtype = CRISOL_BOOL;
  OK(crisol_tensor_dtype(x.get(), &dtype));
  CHECK(dtype == CRISOL_F32);
  crisol_device device = -5;
  OK(crisol_tensor_device(x.get(), &device));
  CHECK(device == Device().index());
  CHECK(sizes_of(x.get()) == Longs{2, 3});
  OK(crisol_transpose(x.get(), 0, 1, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 4, 2, 5, 3, 6});
  Longs strides(2);
  OK(crisol_tensor_strides(y.get(), strides.data()));
  CHECK(strides == Longs{1, 3});
  OK(crisol_contiguous(y.get(), z.place()));
  OK(crisol_tensor_strides(z.get(), strides.data()));
  CHECK(strides == Longs{2, 1});
}

TEST_CASE("C: every view and copy") {
  Handle x({1, 2, 3, 4, 5, 6}, {2, 3}), y;
  const auto gives = [&](const Longs& sizes, const Floats& values) {
    CHECK(sizes_of(y.get()) == sizes);
    CHECK(values_of(y.get()) == values);
  };
  const Longs six{6}, three_two{3, 2}, swapped{1, 0}, bigger{2, 2, 3};
  OK(crisol_reshape(x.get(), 1, six.data(), y.place()));
  gives({6}, {1, 2, 3, 4, 5, 6});
  OK(crisol_reshape(x.get(), 2, three_two.data(), y.place()));
  gives({3, 2}, {1, 2, 3, 4, 5, 6});
  OK(crisol_permute(x.get(), swapped.data(), y.place()));
  gives({3, 2}, {1, 4, 2, 5, 3, 6});
  OK(crisol_expand(x.get(), 3, bigger.data(), y.place()));
  gives({2, 2, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  OK(crisol_narrow(x.get(), 1, 1, 2, y.place()));
  gives({2, 2}, {2, 3, 5, 6});
  OK(crisol_select(x.get(), 0, -1, y.place()));
  gives({3}, {4, 5, 6});
  OK(crisol_unsqueeze(x.get(), 1, y.place()));
  gives({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  Handle z;
  OK(crisol_squeeze(y.get(), 1, z.place()));
  CHECK(sizes_of(z.get()) == Longs{2, 3});
  OK(crisol_clone(x.get(), y.place()));
  OK(crisol_tensor_share(x.get(), z.place()));
  const Floats written{6, 5, 4, 3, 2, 1};
  OK(crisol_tensor_write(x.get(), written.data(), 24));
  gives({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(values_of(z.get()) == written);
  OK(crisol_tensor_copy(y.get(), x.get()));
  CHECK(values_of(y.get()) == written);
  OK(crisol_to_dtype(x.get(), CRISOL_I32, y.place()));
  CHECK(values_of<std::int32_t>(y.get()) == std::vector<std::int32_t>{6, 5, 4, 3, 2, 1});
  OK(crisol_to_device(x.get(), here, y.place()));
  CHECK(values_of(y.get()) == written);
}

TEST_CASE("C: new tensors") {
  Handle x;
  const Longs sizes{2, 2};
  OK(crisol_tensor_full(here, CRISOL_I64, 2, sizes.data(), 7, x.place()));
  CHECK(values_of<std::int64_t>(x.get()) == Longs{7, 7, 7, 7});
  OK(crisol_tensor_arange(here, CRISOL_F32, 1, 2, 0.25, x.place()));
  CHECK(values_of(x.get()) == Floats{1, 1.25f, 1.5f, 1.75f});
  for (const auto draw : {crisol_tensor_rand, crisol_tensor_randn}) {
    OK(crisol_manual_seed(3));
    OK(draw(here, 2, sizes.data(), x.place()));
    const Floats first = values_of(x.get());
    OK(crisol_manual_seed(3));
    OK(draw(here, 2, sizes.data(), x.place()));
    CHECK(values_of(x.get()) == first);
  }
  OK(crisol_tensor_create(here, CRISOL_U8, 0, nullptr, nullptr, x.place()));
  CHECK(sizes_of(x.get()).empty());
  double value = 0;
  Handle one({2.5f}, {});
  OK(crisol_tensor_item(one.get(), &value));
  CHECK(value == 2.5);
}

TEST_CASE("C: refusals write nothing") {
  Handle x({1, 2, 3}, {3});
  crisol_tensor* const before = x.get();
  crisol_tensor* result = before;
  const Longs sizes{2, 2};
  const Floats values{1, 2, 3};
  refused(crisol_reshape(x.get(), 2, sizes.data(), &result), CRISOL_INVALID_ARGUMENT, {"[reshape]", "(3)", "(2, 2)"});
  refused(crisol_reshape(x.get(), 9, sizes.data(), &result), CRISOL_INVALID_ARGUMENT, {"9 numbers", "8"});
  refused(crisol_reshape(x.get(), 2, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"sizes is null"});
  refused(crisol_reshape(nullptr, 2, sizes.data(), &result), CRISOL_INVALID_ARGUMENT, {"[reshape]", "x is null"});
  refused(crisol_reshape(x.get(), 2, sizes.data(), nullptr), CRISOL_INVALID_ARGUMENT, {"result is null"});
  refused(crisol_tensor_create(here, 17, 0, nullptr, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"dtype 17"});
  refused(crisol_tensor_write(x.get(), values.data(), 8), CRISOL_INVALID_ARGUMENT, {"8 bytes", "take 12"});
  refused(crisol_tensor_write(x.get(), nullptr, 12), CRISOL_INVALID_ARGUMENT, {"data is null"});
  refused(crisol_tensor_read(x.get(), nullptr, 12), CRISOL_INVALID_ARGUMENT, {"data is null"});
  refused(crisol_reduce("nonsense", x.get(), 0, nullptr, 0, 0, &result), CRISOL_INVALID_ARGUMENT,
          {"'nonsense'", "logsumexp"});
  refused(crisol_cat(1, nullptr, 0, &result), CRISOL_INVALID_ARGUMENT, {"[cat]"});
  refused(crisol_model_create("nonsense", 10, here, nullptr), CRISOL_INVALID_ARGUMENT, {"result is null"});
  crisol_model* model = nullptr;
  refused(crisol_model_create("nonsense", 10, here, &model), CRISOL_INVALID_ARGUMENT, {"'nonsense'", "resnet18"});
  refused(crisol_load_tensor("/no/such/file", "x", here, &result), CRISOL_IO, {"/no/such/file"});
  refused(crisol_mse_loss(x.get(), x.get(), 9, &result), CRISOL_INVALID_ARGUMENT, {"reduction 9"});
  CHECK(result == before);
  CHECK(model == nullptr);
  CHECK(values_of(x.get()) == Floats{1, 2, 3});
  // Each thread has its own message.
  std::thread([] { CHECK(std::string(crisol_error_message()).empty()); }).join();
  CHECK(std::string(crisol_error_message()).find("reduction 9") != std::string::npos);
  crisol_tensor_destroy(nullptr);
  crisol_model_destroy(nullptr);
  crisol_optimizer_destroy(nullptr);
}

TEST_CASE("C: reductions by name are the C++ functions") {
  Handle x({4, 1, 3, 2, 6, 5}, {2, 3}), y;
  const Tensor t = from_vector<float>({4, 1, 3, 2, 6, 5}, {2, 3});
  const std::int64_t axis = 1;
  std::istringstream names(crisol_reduce_names());
  int count = 0;
  for (std::string name; names >> name; ++count) {
    CAPTURE(name);
    OK(crisol_reduce(name.c_str(), x.get(), 1, &axis, 1, 1, y.place()));
    CHECK(sizes_of(y.get()) == Longs{2, 1});
    const std::size_t bytes = name == "argmax" || name == "argmin" ? 8 : name == "any" || name == "all" ? 1 : 4;
    std::vector<std::byte> values(2 * bytes);
    OK(crisol_tensor_read(y.get(), values.data(), values.size()));
  }
  CHECK(count == 13);
  const auto gives = [&](const char* name, double parameter, const Tensor& expected) {
    CAPTURE(name);
    OK(crisol_reduce(name, x.get(), 1, &axis, 0, parameter, y.place()));
    CHECK(values_of(y.get()) == expected.to_vector<float>());
  };
  gives("sum", 0, sum(t, {1}));
  gives("mean", 0, mean(t, {1}));
  gives("prod", 0, prod(t, {1}));
  gives("max", 0, max(t, {1}));
  gives("min", 0, min(t, {1}));
  gives("var", 0, var(t, {1}, false, 0));
  gives("stddev", 1, stddev(t, {1}));
  gives("norm", 1, norm(t, 1, {1}));
  gives("logsumexp", 0, logsumexp(t, {1}));
  OK(crisol_reduce("argmax", x.get(), 1, &axis, 0, 0, y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == Longs{0, 1});
  OK(crisol_cumsum(x.get(), 1, y.place()));
  CHECK(values_of(y.get()) == Floats{4, 5, 8, 2, 8, 13});
}

TEST_CASE("C: pointwise functions by name are the C++ functions") {
  Handle x({-1, 0.5f, 2}, {3}), y;
  const crisol_operand one[] = {{x.get(), 0}}, two[] = {{x.get(), 0}, {nullptr, 2}}, numbers[] = {{nullptr, 1}};
  const double slope = 0.1;
  OK(crisol_pointwise("relu", 1, one, 0, nullptr, y.place()));
  CHECK(values_of(y.get()) == Floats{0, 0.5f, 2});
  OK(crisol_pointwise("mul", 2, two, 0, nullptr, y.place()));
  CHECK(values_of(y.get()) == Floats{-2, 1, 4});
  OK(crisol_pointwise("leaky_relu", 1, one, 1, &slope, y.place()));
  CHECK(values_of(y.get()) == Floats{-0.1f, 0.5f, 2});
  Handle whole(Longs{3, 5});
  const crisol_operand sum[] = {{whole.get(), 0}, {nullptr, 2}}, fraction[] = {{whole.get(), 0}, {nullptr, 0.5}};
  OK(crisol_pointwise("add", 2, sum, 0, nullptr, y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == Longs{5, 7});
  OK(crisol_pointwise("add", 2, fraction, 0, nullptr, y.place()));
  CHECK(values_of(y.get()) == Floats{3.5f, 5.5f});
  int count = 0;
  std::istringstream names(crisol_pointwise_names());
  for (std::string name; names >> name;) ++count;
  CHECK(count > 70);
  const crisol_tensor* before = y.get();
  crisol_tensor* result = y.get();
  refused(crisol_pointwise("nonsense", 1, one, 0, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"'nonsense'", "relu"});
  refused(crisol_pointwise("relu", 2, two, 0, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"[relu]", "2 inputs", "1"});
  refused(crisol_pointwise("leaky_relu", 1, one, 0, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"0 numbers", "1"});
  refused(crisol_pointwise("relu", 1, numbers, 0, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"must be a tensor"});
  refused(crisol_pointwise("relu", 1, nullptr, 0, nullptr, &result), CRISOL_INVALID_ARGUMENT, {"is null"});
  CHECK(result == before);
}

TEST_CASE("C: layers are the C++ functions") {
  manual_seed(5);
  const Tensor tx = randn({2, 2, 6, 6}), tw = randn({4, 1, 3, 3}), tb = randn({4});
  const auto handle = [](const Tensor& t) { return t.to_vector<float>(); };
  Handle x(handle(tx), {2, 2, 6, 6}), w(handle(tw), {4, 1, 3, 3}), b(handle(tb), {4}), y;
  const crisol_conv2d_options conv{{2, 1}, {1, 0}, {1, 2}, 2};
  OK(crisol_conv2d(x.get(), w.get(), b.get(), &conv, y.place()));
  CHECK(values_of(y.get()) == conv2d(tx, tw, tb, {{2, 1}, {1, 0}, {1, 2}, 2}).to_vector<float>());
  const crisol_pool2d_options pool{{3, 2}, {2, 2}, {1, 1}, {1, 1}, 1, 0};
  OK(crisol_max_pool2d(x.get(), &pool, y.place()));
  CHECK(values_of(y.get()) == max_pool2d(tx, {{3, 2}, 2, 1, 1, true}).to_vector<float>());
  OK(crisol_avg_pool2d(x.get(), &pool, y.place()));
  CHECK(values_of(y.get()) == avg_pool2d(tx, {{3, 2}, 2, 1, true, false}).to_vector<float>());
  OK(crisol_adaptive_avg_pool2d(x.get(), 3, 2, y.place()));
  CHECK(values_of(y.get()) == adaptive_avg_pool2d(tx, {3, 2}).to_vector<float>());
  refused(crisol_max_pool2d(x.get(), nullptr, y.place()), CRISOL_INVALID_ARGUMENT, {"options is null"});
  OK(crisol_batch_norm2d(x.get(), nullptr, nullptr, nullptr, nullptr, 1, 0.1, 1e-5, y.place()));
  CHECK(values_of(y.get()) == batch_norm2d(tx, Tensor(), Tensor(), Tensor(), Tensor()).to_vector<float>());
  const std::int64_t six = 6;
  OK(crisol_layer_norm(x.get(), 1, &six, nullptr, nullptr, 1e-5, y.place()));
  CHECK(values_of(y.get()) == layer_norm(tx, {6}).to_vector<float>());
  OK(crisol_softmax(x.get(), -1, y.place()));
  CHECK(values_of(y.get()) == softmax(tx, -1).to_vector<float>());
  OK(crisol_log_softmax(x.get(), 1, y.place()));
  CHECK(values_of(y.get()) == log_softmax(tx, 1).to_vector<float>());
  OK(crisol_dropout(x.get(), 0.5, 0, y.place()));
  CHECK(values_of(y.get()) == values_of(x.get()));

  Handle a({1, 2, 3, 4}, {2, 2}), c({1, 1}, {2});
  OK(crisol_matmul(a.get(), a.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{7, 10, 15, 22});
  OK(crisol_linear(a.get(), a.get(), c.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{6, 12, 12, 26});
  Handle labels(Longs{1, 0});
  const Tensor ta = from_vector<float>({1, 2, 3, 4}, {2, 2}), tl = from_vector<std::int64_t>({1, 0});
  OK(crisol_cross_entropy(a.get(), labels.get(), CRISOL_SUM, 0.1, -100, y.place()));
  CHECK(values_of(y.get()) == cross_entropy(ta, tl, {Reduction::sum, 0.1}).to_vector<float>());
  OK(crisol_nll_loss(a.get(), labels.get(), CRISOL_NONE, -100, y.place()));
  CHECK(values_of(y.get()) == Floats{-2, -3});
  OK(crisol_mse_loss(a.get(), a.get(), CRISOL_SUM, y.place()));
  CHECK(values_of(y.get()) == Floats{0});
}

TEST_CASE("C: an LSTM layer is the C++ one") {
  manual_seed(6);
  const Tensor x = randn({3, 2, 4}), w_ih = randn({8, 4}), w_hh = randn({8, 2}), b_ih = randn({8}), b_hh = randn({8});
  const auto handle = [](const Tensor& t) { return t.to_vector<float>(); };
  Handle hx(handle(x), {3, 2, 4}), hw(handle(w_ih), {8, 4}), hh(handle(w_hh), {8, 2}), hbi(handle(b_ih), {8}),
      hbh(handle(b_hh), {8}), y, h, c;
  crisol_rnn_input input{};
  input.x = hx.get();
  input.weight_ih = hw.get();
  input.weight_hh = hh.get();
  input.bias_ih = hbi.get();
  input.bias_hh = hbh.get();
  input.cell = CRISOL_LSTM;
  input.reverse = 1;
  OK(crisol_rnn(&input, y.place(), h.place(), c.place()));
  const RnnOutput expected = rnn({x, {}, {}, {}}, {w_ih, w_hh, b_ih, b_hh, {}}, {RnnCell::lstm, true});
  CHECK(values_of(y.get()) == expected.y.to_vector<float>());
  CHECK(values_of(h.get()) == expected.h_n.to_vector<float>());
  CHECK(values_of(c.get()) == expected.c_n.to_vector<float>());
  OK(crisol_rnn(&input, y.place(), nullptr, nullptr));
  input.cell = 8;
  refused(crisol_rnn(&input, y.place(), nullptr, nullptr), CRISOL_INVALID_ARGUMENT, {"cell 8"});
}

TEST_CASE("C: joining, picking and sorting") {
  Handle a({1, 2}, {2}), b({3, 4}, {2}), y, z;
  const crisol_tensor* both[] = {a.get(), b.get()};
  OK(crisol_cat(2, both, 0, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 2, 3, 4});
  OK(crisol_stack(2, both, 1, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 3, 2, 4});
  const std::int64_t before = 1, after = 2;
  OK(crisol_pad(a.get(), &before, &after, 9, y.place()));
  CHECK(values_of(y.get()) == Floats{9, 1, 2, 9, 9});
  Handle square({1, 2, 3, 4}, {2, 2});
  OK(crisol_tril(square.get(), 0, y.place()));
  CHECK(values_of(y.get()) == Floats{1, 0, 3, 4});
  OK(crisol_triu(square.get(), 1, y.place()));
  CHECK(values_of(y.get()) == Floats{0, 2, 0, 0});
  Handle index(Longs{1, 0});
  OK(crisol_index_select(square.get(), 0, index.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{3, 4, 1, 2});
  OK(crisol_gather(a.get(), 0, index.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{2, 1});
  OK(crisol_scatter_add(a.get(), 0, index.get(), b.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{5, 5});
  OK(crisol_index_add(a.get(), 0, index.get(), b.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{5, 5});
  OK(crisol_embedding(square.get(), index.get(), -1, y.place()));
  CHECK(values_of(y.get()) == Floats{3, 4, 1, 2});
  OK(crisol_one_hot(index.get(), 3, CRISOL_F32, y.place()));
  CHECK(values_of(y.get()) == Floats{0, 1, 0, 1, 0, 0});
  OK(crisol_sort(square.get(), 1, 1, y.place(), z.place()));
  CHECK(values_of(y.get()) == Floats{2, 1, 4, 3});
  CHECK(values_of<std::int64_t>(z.get()) == Longs{1, 0, 1, 0});
  OK(crisol_topk(square.get(), 1, 1, 1, nullptr, z.place()));
  CHECK(values_of<std::int64_t>(z.get()) == Longs{1, 1});
  Handle weights({0, 1, 0}, {1, 3});
  OK(crisol_multinomial(weights.get(), 4, 1, y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == Longs{1, 1, 1, 1});
  OK(crisol_sample_logits(weights.get(), 1e-3, 1, y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == Longs{1});
}

TEST_CASE("C: a model trains, is saved and loaded") {
  if (testing::slow_device()) CRISOL_SKIP("a training takes too long here");
  const testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/model.safetensors";
  OK(crisol_manual_seed(2));
  crisol_model *model = nullptr, *other = nullptr;
  OK(crisol_model_create("row_lstm", 3, here, &model));
  OK(crisol_model_create("row_lstm", 3, here, &other));
  std::int32_t count = 0;
  OK(crisol_model_parameter_count(model, &count));
  CHECK(count == 6);
  std::vector<crisol_tensor*> parameters;
  for (std::int32_t i = 0; i < count; ++i) {
    crisol_tensor* parameter = nullptr;
    const char* name = nullptr;
    OK(crisol_model_parameter(model, i, &name, &parameter));
    CHECK(std::string(name).find('.') != std::string::npos);
    parameters.push_back(parameter);
  }
  refused(crisol_model_parameter(model, count, nullptr, nullptr), CRISOL_INVALID_ARGUMENT, {"parameter 6 of 6"});
  crisol_optimizer* adam = nullptr;
  OK(crisol_adam(count, parameters.data(), 0.01, 0.9, 0.999, 1e-8, 0, &adam));
  Handle x(Floats(2 * 28 * 28, 0.5f), {2, 1, 28, 28}), labels(Longs{2, 2}), logits, loss, norm, gradient;
  double first = 0, last = 0;
  for (int step = 0; step < 5; ++step) {
    OK(crisol_model_forward(model, x.get(), logits.place()));
    OK(crisol_cross_entropy(logits.get(), labels.get(), CRISOL_MEAN, 0, -100, loss.place()));
    OK(crisol_optimizer_zero_grad(adam));
    OK(crisol_backward(loss.get(), nullptr, 0));
    OK(crisol_clip_grad_norm(count, parameters.data(), 1, norm.place()));
    OK(crisol_optimizer_step(adam));
    OK(crisol_tensor_item(loss.get(), step == 0 ? &first : &last));
  }
  CHECK(last < first);
  OK(crisol_optimizer_set_lr(adam, 0.001));
  refused(crisol_optimizer_set_lr(adam, -1), CRISOL_INVALID_ARGUMENT, {"-1"});
  OK(crisol_model_save(model, file.c_str()));
  OK(crisol_model_load(other, file.c_str()));
  OK(crisol_model_train(model, 0));
  OK(crisol_model_train(other, 0));
  OK(crisol_model_forward(model, x.get(), logits.place()));
  const Floats expected = values_of(logits.get());
  OK(crisol_model_forward(other, x.get(), logits.place()));
  CHECK(values_of(logits.get()) == expected);
  OK(crisol_load_tensor(file.c_str(), "fc.bias", here, x.place()));
  CHECK(sizes_of(x.get()) == Longs{3});
  refused(crisol_load_tensor(file.c_str(), "nonsense", here, x.place()), CRISOL_INVALID_ARGUMENT, {"'nonsense'"});
  crisol_optimizer_destroy(adam);
  for (crisol_tensor* parameter : parameters) crisol_tensor_destroy(parameter);
  crisol_model_destroy(model);
  crisol_model_destroy(other);
}

TEST_CASE("C: the other optimizers take a step as theirs") {
  const auto step_of = [](const auto& make) {
    Handle p({1, 2}, {2}), loss;
    OK(crisol_set_requires_grad(p.get(), 1));
    crisol_optimizer* optimizer = nullptr;
    crisol_tensor* list[] = {p.get()};
    OK(make(list, &optimizer));
    OK(crisol_reduce("sum", p.get(), 0, nullptr, 0, 0, loss.place()));
    OK(crisol_backward(loss.get(), nullptr, 0));
    OK(crisol_optimizer_step(optimizer));
    crisol_optimizer_destroy(optimizer);
    return values_of(p.get())[0];
  };
  CHECK(step_of([](auto* p, auto* o) { return crisol_sgd(1, p, 0.5, 0, 0, 0, o); }) == 0.5f);
  CHECK(step_of([](auto* p, auto* o) { return crisol_adamw(1, p, 0.5, 0.9, 0.999, 1e-8, 0, o); }) ==
        doctest::Approx(0.5));
  CHECK(step_of([](auto* p, auto* o) { return crisol_rmsprop(1, p, 0.5, 0.75, 1e-8, 0, 0, 0, o); }) ==
        doctest::Approx(0));
}

TEST_CASE("C: gradients, and recording switched off") {
  Handle x({1, 2}, {2}), y, gradient;
  OK(crisol_set_requires_grad(x.get(), 1));
  int wanted = 0;
  OK(crisol_requires_grad(x.get(), &wanted));
  CHECK(wanted == 1);
  OK(crisol_grad(x.get(), gradient.place()));
  CHECK(gradient.get() == nullptr);
  OK(crisol_softmax(x.get(), 0, y.place()));
  Handle dy({1, 0}, {2});
  refused(crisol_backward(y.get(), nullptr, 0), CRISOL_INVALID_ARGUMENT, {"[backward]"});
  OK(crisol_backward(y.get(), dy.get(), 0));
  OK(crisol_grad(x.get(), gradient.place()));
  const double p = 1 / (1 + std::exp(1.0));
  CHECK(values_of(gradient.get())[0] == doctest::Approx(p * (1 - p)));
  CHECK(crisol_set_grad_enabled(0) == 1);
  CHECK(crisol_set_grad_enabled(0) == 0);
  OK(crisol_softmax(x.get(), 0, y.place()));
  CHECK(crisol_set_grad_enabled(1) == 0);
  OK(crisol_requires_grad(y.get(), &wanted));
  CHECK(wanted == 0);
  OK(crisol_detach(x.get(), y.place()));
  OK(crisol_requires_grad(y.get(), &wanted));
  CHECK(wanted == 0);
}

TEST_CASE("C: OpenCL's objects") {
  void *context = nullptr, *queue = nullptr, *memory = nullptr;
  OK(crisol_opencl_context(here, &context));
  OK(crisol_opencl_queue(here, &queue));
  CHECK(context == opencl_context(Device()));
  CHECK(queue == opencl_queue(Device()));
  Handle x({1, 2, 3, 4}, {4}), part, view;
  OK(crisol_narrow(x.get(), 0, 1, 2, part.place()));
  std::size_t offset = 0;
  OK(crisol_tensor_opencl(part.get(), &memory, &offset));
  const std::int64_t two = 2;
  OK(crisol_tensor_from_opencl(here, memory, offset, CRISOL_F32, 1, &two, view.place()));
  CHECK(values_of(view.get()) == Floats{2, 3});
  OK(crisol_tensor_written(view.get()));
  refused(crisol_tensor_from_opencl(here, nullptr, 0, CRISOL_F32, 1, &two, view.place()), CRISOL_INVALID_ARGUMENT,
          {"[from_opencl]", "null"});
  crisol_device device = -5;
  refused(crisol_device_from_opencl(nullptr, context, queue, &device), CRISOL_INVALID_ARGUMENT, {"[adopt_opencl]"});
}

TEST_CASE("C: tensors in files") {
  const testing::TemporaryFolder folder;
  const std::string file = folder.path() + "/two.safetensors";
  Handle a({1, 2}, {2}), b({3}, {1}), y;
  const char* names[] = {"a", "b"};
  const crisol_tensor* both[] = {a.get(), b.get()};
  OK(crisol_save_tensors(file.c_str(), 2, names, both));
  OK(crisol_load_tensor(file.c_str(), "b", here, y.place()));
  CHECK(values_of(y.get()) == Floats{3});
  refused(crisol_save_tensors(file.c_str(), 2, nullptr, both), CRISOL_INVALID_ARGUMENT, {"names is null"});
}
