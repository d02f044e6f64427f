// Windows, mel scales and Fourier transforms of signals.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "crisol/functions/cat.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/pad.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/element_types.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

constexpr double pi = 3.14159265358979323846;

/// The factors in the formula of a window: a - b cos(2 pi i / n) + c cos(4 pi i / n).
struct Cosines {
  double a, b, c;
};
constexpr Cosines hann{0.5, 0.5, 0}, hamming{25.0 / 46, 21.0 / 46, 0}, blackman{0.42, 0.5, 0.08};

/// n is the number of elements, or one less if the window is symmetric.
template <const Cosines& factors>
Run window(Call& call) {
  call.check_counts(1, 1);
  const bool periodic = call.integer("periodic", 1) != 0;
  const DType dtype = dtype_of_number(call.integer("output_datatype", 1));
  call.gives(0, value_of(dtype, 1));
  return [=](const Data& in, Device device) {
    const std::int64_t size = number_of(in[0], "size");
    const double n = static_cast<double>(periodic ? size : size - 1);
    require(size >= 0 && n != 0, "onnx", "a ", periodic ? "periodic" : "symmetric", " window of ", size, " elements");
    const Tensor angle = arange(0, static_cast<double>(size), 1, DType::f32, device) * (2 * pi / n);
    const Tensor y = factors.a - cos(angle) * factors.b;
    return Data{(factors.c == 0 ? y : y + cos(angle * 2.0) * factors.c).to(dtype)};
  };
}

/// Triangles (dft_length / 2 + 1, num_mel_bins). Each triangle rises from the previous bin to 1 at its own bin, and
/// falls to the next bin.
Run mel_weight_matrix(Call& call) {
  call.check_counts(5, 5);
  const DType dtype = dtype_of_number(call.integer("output_datatype", 1));
  call.gives(0, value_of(dtype, 2));
  return [=](const Data& in, Device device) {
    const std::int64_t count = number_of(in[0], "num_mel_bins"), length = number_of(in[1], "dft_length"),
                       rate = number_of(in[2], "sample_rate");
    require(count >= 0 && count <= 1 << 20 && length >= 0 && rate > 0, "onnx", count, " bins of ", length,
            " frequencies at the rate ", rate);
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double low = mel(in[3].tensor(device).item<double>()), high = mel(in[4].tensor(device).item<double>());
    std::vector<double> bins;
    for (std::int64_t i = 0; i < count + 2; ++i) {
      const double at = low + static_cast<double>(i) * (high - low) / static_cast<double>(count + 2);
      const double hertz = 700 * (std::pow(10, at / 2595) - 1);
      bins.push_back(std::floor((static_cast<double>(length) + 1) * hertz / static_cast<double>(rate)));
    }
    const Tensor all = from_vector(bins, DType::f32, device);
    const Tensor left = all.narrow(0, 0, count), centre = all.narrow(0, 1, count), right = all.narrow(0, 2, count);
    const Tensor place = arange(0, static_cast<double>(length / 2 + 1), 1, DType::f32, device).unsqueeze(1);
    const Tensor rise = 1 - (centre - place) / maximum(centre - left, 1);
    const Tensor fall = 1 - (place - centre) / maximum(right - centre, 1);
    return Data{clamp(minimum(rise, fall), 0, 1).to(dtype)};
  };
}

/// A Fourier transform of `length` numbers along an axis.
struct Transform {
  std::int64_t length;
  bool inverse, onesided;

  bool gives_real() const { return inverse && onesided; }
  std::int64_t inputs() const { return gives_real() ? length / 2 + 1 : length; }
  std::int64_t outputs() const { return onesided && !inverse ? length / 2 + 1 : length; }
};

/// The matrix of a transform. It has a row for each input number, and a column for each output number. A complex number
/// has two rows or columns: real and imaginary.
Tensor matrix_of(const Transform& t, std::int64_t parts, Device device) {
  require(t.length > 0 && t.length <= 1 << 13, "onnx", "a Fourier transform of length ", t.length, ", 1 to ", 1 << 13,
          " supported");
  const double n = static_cast<double>(t.length);
  std::vector<double> cosines, sines;
  for (std::int64_t i = 0; i < t.length; ++i) {
    cosines.push_back(std::cos(2 * pi * static_cast<double>(i) / n) / (t.inverse ? n : 1));
    sines.push_back(std::sin(2 * pi * static_cast<double>(i) / n) / (t.inverse ? n : -1));
  }
  const auto count = [&](std::int64_t size) { return arange(0, static_cast<double>(size), 1, DType::i64, device); };
  const Tensor place = remainder(count(t.inputs()).unsqueeze(1) * count(t.outputs()), t.length);
  const auto waves = [&](const std::vector<double>& of) {
    const Tensor table = from_vector(of, DType::f32, device);
    return index_select(table, 0, place.reshape(place.numel())).reshape(place.shape());
  };
  Tensor cosine = waves(cosines), sine = waves(sines);
  if (t.gives_real()) {
    // Each frequency represents two frequencies, except for the first and the middle one.
    std::vector<double> factors(static_cast<std::size_t>(t.inputs()), 2);
    factors.front() = 1;
    if (t.length % 2 == 0) factors.back() = 1;
    const Tensor factor = from_vector(factors, {t.inputs(), 1}, DType::f32, device);
    cosine = cosine * factor;
    sine = sine * factor;
  }
  std::vector<Tensor> of_parts;  // The parts of the outputs, for each part of an input.
  of_parts.push_back(t.gives_real() ? cosine.unsqueeze(-1) : stack({cosine, sine}, -1));
  if (parts == 2) of_parts.push_back(t.gives_real() ? (-sine).unsqueeze(-1) : stack({-sine, cosine}, -1));
  return stack(of_parts, 1).reshape({t.inputs() * parts, t.outputs() * (t.gives_real() ? 1 : 2)});
}

/// Transforms x (…, numbers, parts) along its second-to-last axis.
Tensor transformed(Tensor x, const Transform& t) {
  const std::int64_t parts = x.size(-1), given = x.size(-2);
  require(parts == 1 || parts == 2, "onnx", "a signal of shape ", x.shape(),
          ", 1 or 2 numbers for each place expected");
  if (given > t.inputs()) x = x.narrow(-2, 0, t.inputs());
  if (given < t.inputs()) x = pad(x, {{0, 0}, {0, t.inputs() - given}});
  Shape shape = x.shape();
  shape[x.dim() - 2] = t.outputs();
  shape[x.dim() - 1] = t.gives_real() ? 1 : 2;
  const std::int64_t row = t.inputs() * parts;
  const Tensor rows = x.to(DType::f32).reshape({x.numel() / row, row});
  return matmul(rows, matrix_of(t, parts, x.device())).reshape(shape).to(x.dtype());
}

/// The axis is an attribute before version 20, and an input since then.
Run dft(Call& call) {
  const bool axis_is_input = call.version() >= 20;
  call.check_counts(1, axis_is_input ? 3 : 2);
  call.gives_type_of(0);
  const std::int64_t given_axis = axis_is_input ? -2 : call.integer("axis", 1);
  const bool inverse = call.integer("inverse", 0) != 0, onesided = call.integer("onesided", 0) != 0;
  return [=](const Data& in, Device device) {
    const Tensor x = in[0].tensor(device);
    const int axis = axis_of(has_input(in, 2) ? number_of(in[2], "axis") : given_axis, x.dim());
    require(axis != x.dim() - 1, "onnx", "axis ", axis, " of an input of shape ", x.shape());
    Transform t{x.size(axis), inverse, onesided};
    if (t.gives_real()) t.length = 2 * (x.size(axis) - 1);
    if (has_input(in, 1)) t.length = number_of(in[1], "dft_length");
    return Data{transformed(x.transpose(axis, -2), t).transpose(axis, -2)};
  };
}

/// Transforms frames of a signal (N, L, parts). A real signal may also be (N, L), as in PyTorch. The result is (N,
/// frames, frequencies, 2).
Run stft(Call& call) {
  call.check_counts(2, 4);
  call.gives_type_of(0);
  const bool onesided = call.integer("onesided", 1) != 0;
  return [=](const Data& in, Device device) {
    const Tensor given = in[0].tensor(device), window = input_of(in, 2, device);
    const Tensor signal = given.dim() == 2 ? given.unsqueeze(2) : given;
    require(signal.dim() == 3, "onnx", "a signal of shape ", signal.shape(), ", (N, L, 1 or 2) or (N, L) expected");
    const std::int64_t step = number_of(in[1], "frame_step");
    std::int64_t length = window.defined() ? window.numel() : signal.size(1);
    if (has_input(in, 3)) length = number_of(in[3], "frame_length");
    require(step > 0 && length > 0 && length <= signal.size(1), "onnx", "frames of ", length, " at a distance of ",
            step, " in a signal of shape ", signal.shape());
    require(!window.defined() || window.shape() == Shape(length), "onnx", "a window of shape ",
            window.defined() ? window.shape() : Shape(), " for frames of ", length);
    const std::int64_t frames = (signal.size(1) - length) / step + 1;
    const auto count = [&](std::int64_t size) { return arange(0, static_cast<double>(size), 1, DType::i64, device); };
    const Tensor places = (count(frames) * step).unsqueeze(1) + count(length);
    Tensor x = index_select(signal, 1, places.reshape(frames * length))
                   .reshape({signal.size(0), frames, length, signal.size(2)});
    if (window.defined()) x = x * window.unsqueeze(1);
    return Data{transformed(x, {length, false, onesided})};
  };
}

}  // namespace

std::vector<Row> signal_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"BlackmanWindow", 17, newest, window<blackman>},   {"DFT", 17, newest, dft},
      {"HammingWindow", 17, newest, window<hamming>},     {"HannWindow", 17, newest, window<hann>},
      {"MelWeightMatrix", 17, newest, mel_weight_matrix}, {"STFT", 17, newest, stft},
  };
}

}  // namespace crisol::onnx
