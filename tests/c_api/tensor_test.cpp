// The C interface: tensors, their views, files and gradients. A refused call writes nothing.
#include <cmath>
#include <string>
#include <thread>

#include "c_api/handle.h"
#include "crisol/device.h"
#include "crisol/dtype_table.h"
#include "support/files.h"
#include "support/processes/subprocess.h"

using namespace crisol;
using namespace crisol::testing::c_api;

TEST_CASE("C: tensors of every element type keep their bits, in memory and in files") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/x.safetensors";
  for (const DType dtype : all_dtypes) {
    CAPTURE(dtype);
    const std::int64_t count = 5;
    std::vector<unsigned char> bytes(count * size_of(dtype)), found(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = dtype == DType::boolean ? i % 2 : static_cast<unsigned char>(37 * i + 11);
    Handle x, y;
    OK(crisol_tensor_create(here, static_cast<crisol_dtype>(dtype), 1, &count, bytes.data(), x.place()));
    const char* const name = "x";
    const crisol_tensor* const tensor = x.get();
    OK(crisol_save_tensors(path.c_str(), 1, &name, &tensor));
    OK(crisol_load_tensor(path.c_str(), name, here, y.place()));
    for (const Handle* const one : {&x, &y}) {
      crisol_dtype type = -1;
      OK(crisol_tensor_dtype(one->get(), &type));
      CHECK(type == static_cast<crisol_dtype>(dtype));
      OK(crisol_tensor_read(one->get(), found.data(), found.size()));
      CHECK(found == bytes);
    }
  }
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
  refused(crisol_reshape(x.get(), 26, sizes.data(), &result), CRISOL_INVALID_ARGUMENT, {"26 numbers", "25"});
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
  // Each thread has its own error message.
  std::string of_another = "never asked";
  std::thread([&] { of_another = crisol_error_message(); }).join();
  CHECK(of_another.empty());
  CHECK(std::string(crisol_error_message()).find("reduction 9") != std::string::npos);
  crisol_tensor_destroy(nullptr);
  crisol_model_destroy(nullptr);
  crisol_optimizer_destroy(nullptr);
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
