// Fourier transforms and windows from ONNX files.
#include <cmath>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/gradcheck.h"
#include "support/onnx_op.h"

using namespace crisol;
using namespace crisol::testing;
using doctest::Contains;
using Tensors = std::vector<Tensor>;

namespace {

Tensor whole(std::int64_t value) { return from_vector(std::vector<std::int64_t>{value}, Shape()); }

}  // namespace

TEST_CASE("onnx: Fourier transforms") {
  manual_seed(10);
  const Tensor x = randn({2, 7, 3, 2});
  const Tensor y = run_op({"DFT"}, {x, Tensor(), whole(1)})[0];
  CHECK(nearly(run_op({"DFT", {number("inverse", 1)}}, {y, Tensor(), whole(1)})[0], x));
  CHECK(nearly(run_op({"DFT", {number("axis", 1)}, 17}, {x})[0], y));
  // By the formula.
  double real = 0;
  const std::vector<float> values = x.to_vector<float>();
  for (std::size_t i = 0; i < 7; ++i) {
    const double angle = 2 * std::acos(-1.0) * 2 * static_cast<double>(i) / 7;
    real += values[i * 6 + 2] * std::cos(angle) + values[i * 6 + 3] * std::sin(angle);
  }
  CHECK(y[{0, 2, 1, 0}].item() == doctest::Approx(real).epsilon(1e-4));
  for (const std::int64_t length : {6, 7}) {
    const Tensor signal = randn({3, length, 1});
    const Tensor half = run_op({"DFT", {number("onesided", 1)}}, {signal})[0];
    CHECK(half.shape() == Shape{3, length / 2 + 1, 2});
    CHECK(nearly(run_op({"DFT", {number("onesided", 1), number("inverse", 1)}}, {half, whole(length)})[0], signal));
  }
  const Tensor longer = run_op({"DFT"}, {x, whole(9), whole(1)})[0];
  CHECK(nearly(longer, run_op({"DFT"}, {pad(x, {{0, 0}, {0, 0}, {0, 2}}), Tensor(), whole(1)})[0]));
  CHECK(
      nearly(run_op({"DFT"}, {x, whole(4), whole(1)})[0], run_op({"DFT"}, {x.narrow(1, 0, 4), Tensor(), whole(1)})[0]));
  check_gradients(
      [&](const Tensors& in) {
        return run_op({"DFT"}, {in[0], Tensor(), whole(1)})[0];
      },
      {x}, {.elements = 3});

  const Tensor signal = randn({2, 20, 1}), window = rand({6});
  const Tensor frames = run_op({"STFT"}, {signal, whole(4), window})[0];
  CHECK(frames.shape() == Shape{2, 4, 4, 2});
  CHECK(nearly(frames[{Slice(), 2}],
               run_op({"DFT", {number("onesided", 1)}}, {signal.narrow(1, 8, 6) * window.unsqueeze(1)})[0]));
  CHECK(refusal_of_op({"DFT"}, {zeros({1, 9000, 1})}) == Contains("a Fourier transform of length 9000"));
  CHECK(refusal_of_op({"DFT"}, {x, Tensor(), whole(3)}) == Contains("axis 3 of an input of shape (2, 7, 3, 2)"));
  CHECK(refusal_of_op({"STFT"}, {signal, whole(0), window}) == Contains("at a distance of 0"));
  CHECK(refusal_of_op({"STFT"}, {signal, whole(1), window, whole(5)}) ==
        Contains("a window of shape (6) for frames of 5"));
}

TEST_CASE("onnx: windows of signals") {
  const Tensor hann = run_op({"HannWindow"}, {whole(4)})[0];
  CHECK(nearly(hann, from_vector(std::vector<float>{0, 0.5f, 1, 0.5f})));
  CHECK(
      nearly(run_op({"HannWindow", {number("periodic", 0)}}, {whole(3)})[0], from_vector(std::vector<float>{0, 1, 0})));
  CHECK(run_op({"HammingWindow", {number("output_datatype", 10)}}, {whole(4)})[0].dtype() == DType::f16);
  const std::vector<float> mel =
      run_op({"MelWeightMatrix"}, {whole(8), whole(16), whole(8192), full({}, 0.0), full({}, 4096.0)})[0]
          .to_vector<float>();
  CHECK(mel.size() == 9 * 8);
  CHECK(mel[1] == 1);
  CHECK(mel[8 + 2] == 1);  // As in ONNX's example.
  CHECK(refusal_of_op({"MelWeightMatrix"}, {whole(8), whole(16), whole(0), full({}, 0.0), full({}, 4096.0)}) ==
        Contains("8 bins of 16 frequencies at the rate 0"));
  CHECK(refusal_of_op({"MelWeightMatrix"}, {whole(8), whole(INT64_MAX), whole(1), full({}, 0.0), full({}, 1.0)}) != "");
  CHECK(refusal_of_op({"HannWindow"}, {whole(INT64_MAX)}) != "");
  CHECK(refusal_of_op({"HannWindow", {number("periodic", 0)}}, {whole(1)}) ==
        Contains("a symmetric window of 1 elements"));
  CHECK(refusal_of_op({"HannWindow", {number("output_datatype", 17)}}, {whole(1)}) == Contains("elements of f8e4m3fn"));
}

TEST_CASE("onnx STFT: a real signal may come without an axis for its parts") {
  const Tensor signal = randn({2, 10}), window = rand({4});
  const Tensor step = whole(3), length = whole(4);
  const Tensor expected = run_op({"STFT", {}, 17}, {signal.unsqueeze(2), step, window, length})[0];
  CHECK(expected.shape() == Shape{2, 3, 3, 2});
  CHECK(nearly(run_op({"STFT", {}, 17}, {signal, step, window, length})[0], expected));
}
