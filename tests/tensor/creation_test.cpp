// linspace, eye, …_like, vectors of bool and of types that are converted, axes and devices given in short.
#include <cmath>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "tensor/upload.h"

namespace crisol {

namespace {

using testing::check_error;

using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("linspace: both ends, exact, also backwards and of one or no number") {
  CHECK(linspace(0, 1, 5).to_vector<float>() == Floats{0, 0.25f, 0.5f, 0.75f, 1});
  CHECK(linspace(3, -3, 3).to_vector<float>() == Floats{3, 0, -3});
  CHECK(linspace(2, 9, 1).to_vector<float>() == Floats{2});
  CHECK(linspace(2, 9, 0).shape() == Shape{0});
  CHECK(linspace(0, 5, 4, DType::i64).to_vector<std::int64_t>() == Longs{0, 1, 3, 5});
  CHECK(linspace(0.1, 0.7, 50).to_vector<float>().back() == 0.7f);
  check_error([] { linspace(0, 1, -1); }, {"[linspace]", "-1"});
  check_error([] { linspace(0, INFINITY, 3); }, {"[linspace]", "inf"});
}

TEST_CASE("set_default_dtype: new tensors and what nothing else decides") {
  const struct Restored {
    ~Restored() { set_default_dtype(DType::f32); }
  } restored;
  const Tensor whole = from_vector(Longs{1, 2, 3}), real = ones({3}, DType::f32);
  CHECK(div(whole, 2).dtype() == DType::f32);
  for (const DType dtype : {DType::f16, DType::bf16, DType::f64, DType::f32}) {
    CAPTURE(dtype);
    set_default_dtype(dtype);
    CHECK(default_dtype() == dtype);
    for (const Tensor& made : {zeros({2}), ones({2}), empty({2}), full({2}, 0.5), arange(0, 3), linspace(0, 1, 3),
                               eye(2), rand({5}), randn({5}), bernoulli(0.5, {5})})
      CHECK(made.dtype() == dtype);
    CHECK(nn::Linear(2, 3).weight.dtype() == dtype);
    CHECK(nn::BatchNorm2d(3).running_var.dtype() == dtype);
    CHECK(add(real, 0.5).dtype() == DType::f32);
    if (dtype == DType::f64 && !real.device().info().fp64) continue;
    CHECK(div(whole, 2).dtype() == dtype);
    CHECK(mul(whole, 0.5).dtype() == dtype);
    CHECK(sqrt(whole).dtype() == dtype);
    CHECK(result_type(whole, 0.5) == dtype);
    const auto halved = fuse([](Expr x) { return x / 2; });
    CHECK(halved(whole).dtype() == dtype);
  }
  check_error([] { set_default_dtype(DType::i64); }, {"[set_default_dtype]", "i64"});
}

TEST_CASE("eye: square, wide, tall, empty") {
  CHECK(eye(2).to_vector<float>() == Floats{1, 0, 0, 1});
  CHECK(eye(2, 3, DType::i64).to_vector<std::int64_t>() == Longs{1, 0, 0, 0, 1, 0});
  CHECK(eye(3, 2).to_vector<float>() == Floats{1, 0, 0, 1, 0, 0});
  CHECK(eye(0).shape() == Shape{0, 0});
  CHECK(eye(2, 0).shape() == Shape{2, 0});
  check_error([] { eye(-1); }, {"[eye]", "-1"});
}

TEST_CASE("…_like takes shape, dtype and device") {
  const Tensor x = ones({2, 3}, DType::i32);
  CHECK(zeros_like(x).to_vector<std::int32_t>() == std::vector<std::int32_t>(6, 0));
  CHECK(ones_like(x, DType::f32).to_vector<float>() == Floats(6, 1));
  CHECK(full_like(x, 7.9).to_vector<std::int32_t>() == std::vector<std::int32_t>(6, 7));
  CHECK(empty_like(x, DType::u8).dtype() == DType::u8);
  CHECK(empty_like(x).shape() == x.shape());
  CHECK(empty_like(x).device() == x.device());
  check_error([] { zeros_like(Tensor()); }, {"undefined"});
  check_error([] { empty_like(Tensor()); }, {"[empty_like]", "undefined"});
}

TEST_CASE("full keeps whole numbers of 64 bits") {
  constexpr std::int64_t large = (std::int64_t{1} << 62) + 1;
  CHECK(full({2}, large, DType::i64).to_vector<std::int64_t>() == Longs{large, large});
  Tensor x = zeros({2}, DType::i64);
  CHECK(x.fill_(large).to_vector<std::int64_t>() == Longs{large, large});
}

TEST_CASE("vectors of bool, and of numbers that are converted") {
  const Tensor flags = from_vector(std::vector<bool>{true, false, true});
  CHECK(flags.dtype() == DType::boolean);
  CHECK(flags.to_vector<bool>() == std::vector<bool>{true, false, true});
  Tensor changed = flags.clone();
  changed.copy_from(std::vector<bool>{false, false, true});
  CHECK(changed.to_vector<bool>() == std::vector<bool>{false, false, true});
  check_error([] { zeros({2}).to_vector<bool>(); }, {"f32", "bool"});

  CHECK(from_vector(std::vector<double>{0.5, -2}, DType::f32).to_vector<float>() == Floats{0.5f, -2});
  CHECK(from_vector(std::vector<double>{2.9, -2.9}, {2, 1}, DType::i64).to_vector<std::int64_t>() == Longs{2, -2});
  CHECK(from_vector(std::vector<short>{3, 0}, DType::boolean).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(from_vector(std::vector<std::int64_t>{-1}, DType::u8).to_vector<std::uint8_t>()[0] == 255);
  CHECK(from_vector(std::vector<bool>{true}, DType::f16).to(DType::f32).item() == 1);
  check_error([] { from_vector(std::vector<double>{1, 2}, {3}, DType::f32); }, {"[from_vector]", "2", "(3)"});
}

TEST_CASE("one size or one axis is a shape, a text is a device") {
  CHECK(zeros(5).shape() == Shape{5});
  const Tensor x = arange(0, 6).reshape({2, -1});
  CHECK(x.reshape(-1).shape() == Shape{6});
  CHECK(mean(x, 1).to_vector<float>() == Floats{1, 4});
  CHECK(sum(x, -1, true).shape() == Shape{2, 1});
  CHECK(x.to(Device().name()).device() == x.device());
  check_error([&] { x.to("no such device"); }, {"no such device"}, ErrorCode::device_not_found);
}

TEST_CASE("upload_in_parts: tells of each part once, in order") {
  for (const std::int64_t count : {0, 3, 65536, 1300007}) {
    Floats values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    std::size_t read = 0;
    const Tensor x = upload_in_parts(bytes, {count}, DType::f32, Device(), [&](std::string_view part) {
      CHECK(part.data() == bytes.data() + read);
      read += part.size();
    });
    CHECK(read == bytes.size());
    CHECK(x.to_vector<float>() == values);
  }
  check_error([] { upload_in_parts("abc", {1}, DType::f32, Device(), [](std::string_view) {}); }, {"3 bytes", "(1)"});
}

}  // namespace crisol
