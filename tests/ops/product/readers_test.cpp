// The readers of tiled products, for what no op asks of them yet: operands stored in f16, bf16 and i8, and convolutions
// with three spatial axes.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "conv/parameters.h"
#include "dispatch/work_split.h"
#include "doctest/doctest.h"
#include "ops/product/matrix_units.h"
#include "support/compare.h"
#include "tensor/kernel_args.h"

namespace crisol {

namespace {

using testing::tensor_of;

// The numbers of cl_kernels/product/gpu/storage.h.
enum Stored { f32, f16, bf16, i8 };
constexpr const char* storage_names[] = {"f32", "f16", "bf16", "i8"};

/// Small multiples of 1/8, or whole numbers for i8: every storage holds them, and sums of their products are exact.
std::vector<double> values_for(Stored storage, std::uint64_t seed, std::int64_t count) {
  std::vector<double> values = testing::random_integers(seed, count, -8, 8);
  if (storage != i8)
    for (double& value : values) value /= 8;
  return values;
}

std::uint32_t bits_of(double value, Stored storage) {
  if (storage == i8) return static_cast<std::uint8_t>(static_cast<std::int8_t>(value));
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (storage == f32) return bits;
  if (storage == bf16) return bits >> 16;
  if (value == 0) return 0;  // f16: the exponent's bias is 15 instead of 127, and 13 bits of the fraction go.
  return (bits >> 16 & 0x8000u) | (((bits >> 23 & 0xffu) - 112) << 10 | (bits >> 13 & 0x3ffu));
}

/// A tensor whose memory holds the values in this storage type.
Tensor stored(const std::vector<double>& values, Stored storage) {
  const std::size_t bytes = storage == f32 ? 4 : storage == i8 ? 1 : 2;
  std::vector<std::int32_t> words((values.size() * bytes + 3) / 4 + 4);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t bits = bits_of(values[i], storage);
    std::memcpy(reinterpret_cast<std::byte*>(words.data()) + i * bytes, &bits, bytes);
  }
  return tensor_of({words.begin(), words.end()}, {static_cast<std::int64_t>(words.size())}, DType::i32);
}

/// Calls check(engine, tile) for multiply-adds, and for matrix units in fp16, emulated. Intel's runtime alone takes
/// the latter, because it compiles them the soonest.
template <class Check>
void for_each_engine(const Check& check) {
  SUBCASE("multiply-adds") { check(ops::fma_engine(), ops::TileShape{32, 32, 4, 4, 1.0, 16}); }
  SUBCASE("matrix units") {
    if (Device().info().platform != "Intel(R) OpenCL") return;
    check(ops::mma_engine({testing::Kind::mma_sm80, true}, Precision::fp16), testing::min_tile);
  }
}

runtime::KernelSpec spec_of(const char* file, const char* entry, const ops::Engine& engine, const ops::TileShape& tile,
                            const dispatch::Target& target) {
  runtime::KernelSpec spec{file, entry};
  engine.define(spec, tile, target);
  ops::define_device(spec.defines, target);
  return spec;
}

template <class T>
runtime::KernelArg bytes_of(const T& parameters) {
  return {&parameters, sizeof parameters};
}

constexpr std::array<float, 8> no_scalars{};

void check_gemm(const ops::Engine& engine, const ops::TileShape& tile, Stored a_storage, Stored b_storage,
                int vectors) {
  CAPTURE(std::string(storage_names[a_storage]));
  CAPTURE(std::string(storage_names[b_storage]));
  CAPTURE(vectors);
  const std::int64_t m = vectors == 4 ? 36 : 35, n = vectors == 4 ? 20 : 19, k = vectors == 4 ? 40 : 37;
  const std::vector<double> a = values_for(a_storage, 1, m * k), b = values_for(b_storage, 2, k * n);
  const Tensor from_a = stored(a, a_storage), from_b = stored(b, b_storage);
  Tensor c = full({m, n}, NAN);
  runtime::DeviceState& device = state_of(c);
  const dispatch::Target target = dispatch::target_of(device);
  runtime::KernelSpec spec = spec_of("product/gpu/gemm_tiled.cl", "gemm_tiled", engine, tile, target);
  for (const auto& [name, value] :
       {std::pair<const char*, int>{"VEC", vectors}, {"A_STORAGE", a_storage}, {"B_STORAGE", b_storage}})
    spec.defines.add({name, value});
  const ops::TilePlan cut = ops::cut_tiles(engine, tile, {m, n, k}, 1);
  runtime::launch(device, spec, ops::range_of(engine, cut), in(from_a), in(from_b), out(c), in(from_a), in(c), in(c),
                  bytes_of(kernels::EpilogueParameters{}), bytes_of(no_scalars),
                  bytes_of(kernels::ProductParameters{m, n, k, k, 1, 0}), bytes_of(kernels::MatrixParameters{0, k}),
                  bytes_of(kernels::MatrixParameters{0, n}), bytes_of(kernels::ResultParameters{0, n, 1, 0}));
  std::vector<double> expected;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t at = 0; at < k; ++at)
        sum += a[static_cast<std::size_t>(i * k + at)] * b[static_cast<std::size_t>(at * n + j)];
      expected.push_back(sum);
    }
  testing::check_close(c, expected, {0});
}

// ---- Convolutions with three spatial axes ----

/// Sizes along (depth, height, width).
struct Conv3d {
  std::int64_t images = 2, channels = 8, outputs = 5;
  std::array<std::int64_t, 3> size{4, 5, 6}, taps{2, 3, 3}, stride{1, 2, 1}, padding{1, 1, 2}, dilation{2, 1, 1};

  std::int64_t out(std::size_t axis) const {
    return (size[axis] + 2 * padding[axis] - dilation[axis] * (taps[axis] - 1) - 1) / stride[axis] + 1;
  }
  static std::int64_t product(const std::array<std::int64_t, 3>& sizes) { return sizes[0] * sizes[1] * sizes[2]; }
  std::int64_t volume() const { return product(size); }
  std::int64_t window_size() const { return product(taps); }
  std::int64_t pixels() const { return out(0) * out(1) * out(2); }
  std::int64_t depth() const { return channels * window_size(); }

  kernels::WindowParameters window() const {
    const auto number = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
    return {number(size[0]),     number(size[1]),     number(size[2]),     number(taps[0]),
            number(taps[1]),     number(taps[2]),     number(stride[0]),   number(stride[1]),
            number(stride[2]),   number(-padding[0]), number(-padding[1]), number(-padding[2]),
            number(dilation[0]), number(dilation[1]), number(dilation[2]), 0};
  }
  kernels::PatchesParameters patches() const {
    return {channels * volume(),
            0,
            static_cast<std::int32_t>(pixels()),
            static_cast<std::int32_t>(out(1) * out(2)),
            static_cast<std::int32_t>(out(2)),
            0};
  }

  /// Calls visit(output pixel, tap, input pixel) for all taps that are inside of the volume.
  template <class Visit>
  void for_each_tap(const Visit& visit) const {
    std::array<std::int64_t, 3> o{}, t{};
    std::int64_t pixel = 0;
    for (o[0] = 0; o[0] < out(0); ++o[0])
      for (o[1] = 0; o[1] < out(1); ++o[1])
        for (o[2] = 0; o[2] < out(2); ++o[2], ++pixel) {
          std::int64_t tap = 0;
          for (t[0] = 0; t[0] < taps[0]; ++t[0])
            for (t[1] = 0; t[1] < taps[1]; ++t[1])
              for (t[2] = 0; t[2] < taps[2]; ++t[2], ++tap) {
                std::int64_t from = 0;
                bool inside = true;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                  const std::int64_t at = o[axis] * stride[axis] - padding[axis] + t[axis] * dilation[axis];
                  inside = inside && at >= 0 && at < size[axis];
                  from = from * size[axis] + at;
                }
                if (inside) visit(pixel, tap, from);
              }
        }
  }
};

// A volume's distances of (slices, rows, columns) of taps.
std::array<std::int32_t, 3> tap_distances(const Conv3d& c) {
  return {static_cast<std::int32_t>(c.dilation[0] * c.size[1] * c.size[2]),
          static_cast<std::int32_t>(c.dilation[1] * c.size[2]), static_cast<std::int32_t>(c.dilation[2])};
}

void check_forward(const ops::Engine& engine, const ops::TileShape& tile, Stored storage) {
  CAPTURE(std::string(storage_names[storage]));
  const Conv3d s;
  const int together = 8;
  const std::int64_t m = s.outputs, n = s.images * s.pixels(), k = s.depth(), entries = k / together,
                     count = entries + 32;
  const std::vector<double> x = values_for(storage, 1, s.images * s.channels * s.volume()),
                            w = values_for(f32, 2, m * k);
  const Tensor src = stored(x, storage), weight = tensor_of(w, {m * k});
  Tensor table = zeros({2 * count}, DType::i32), packed = full({m * k}, NAN), y = full({s.images, m, s.pixels()}, NAN);
  runtime::DeviceState& device = state_of(y);
  const dispatch::Target target = dispatch::target_of(device);
  const auto [slice, row, column] = tap_distances(s);
  const auto number = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  const auto taps = [&](std::size_t axis) { return number(s.taps[axis]); };

  runtime::Defines defines{{"AXES", 3}, {"SRC_STORAGE", static_cast<int>(storage)}};
  runtime::launch(device, {"conv/gpu/conv2d_tiled_prepare.cl", "conv2d_tiled_table", defines}, target.flat_range(count),
                  out(table),
                  bytes_of(kernels::TableParameters{number(count), number(entries), together, taps(0), taps(1), taps(2),
                                                    number(s.volume()), slice, row, column}));
  runtime::launch(device, {"conv/gpu/conv2d_tiled_prepare.cl", "conv2d_tiled_pack", defines},
                  target.flat_range(m * entries), in(weight), out(packed),
                  bytes_of(kernels::PackParameters{number(m * entries), number(m), number(entries), number(entries),
                                                   together, taps(0), taps(1), taps(2), 0, number(k),
                                                   number(s.window_size()), taps(1) * taps(2), taps(2), 1}));
  runtime::KernelSpec spec = spec_of("conv/gpu/conv2d_tiled.cl", "conv2d_tiled", engine, tile, target);
  for (const runtime::Define& define : defines) spec.defines.add(define);
  spec.defines.add({"CHANNEL_VECTOR", together});
  const ops::TilePlan cut = ops::cut_tiles(engine, tile, {m, n, k}, 1);
  runtime::launch(device, spec, ops::range_of(engine, cut), in(packed), in(src), out(y), in(packed), in(table), in(y),
                  in(y), bytes_of(kernels::EpilogueParameters{}), bytes_of(no_scalars),
                  bytes_of(kernels::ProductParameters{m, n, k, k, 1, 0}), bytes_of(kernels::MatrixParameters{0, k}),
                  bytes_of(s.patches()), bytes_of(s.window()), bytes_of(kernels::ResultParameters{0, s.pixels(), 1, 0}),
                  bytes_of(kernels::ColumnParameters{m * s.pixels(), number(s.pixels()), number(s.pixels()), 0, 1}));

  std::vector<double> expected(static_cast<std::size_t>(s.images * m * s.pixels()));
  s.for_each_tap([&](std::int64_t pixel, std::int64_t tap, std::int64_t from) {
    for (std::int64_t image = 0; image < s.images; ++image)
      for (std::int64_t output = 0; output < m; ++output)
        for (std::int64_t c = 0; c < s.channels; ++c)
          expected[static_cast<std::size_t>((image * m + output) * s.pixels() + pixel)] +=
              w[static_cast<std::size_t>(output * k + c * s.window_size() + tap)] *
              x[static_cast<std::size_t>((image * s.channels + c) * s.volume() + from)];
  });
  testing::check_close(y, expected, {0});
}

void check_weight(const ops::Engine& engine, const ops::TileShape& tile, Stored storage) {
  CAPTURE(std::string(storage_names[storage]));
  const Conv3d s;
  const std::int64_t m = s.outputs, n = s.depth(), k = s.images * s.pixels(), count = s.pixels() + 32;
  const std::vector<double> x = values_for(storage, 1, s.images * s.channels * s.volume()),
                            dy = values_for(storage, 2, s.images * m * s.pixels());
  const Tensor from_x = stored(x, storage), from_dy = stored(dy, storage);
  Tensor table = zeros({4 * count}, DType::i32), dw = full({m, n}, NAN);
  runtime::DeviceState& device = state_of(dw);
  const dispatch::Target target = dispatch::target_of(device);
  const auto [slice, row, column] = tap_distances(s);
  const auto number = [](std::int64_t value) { return static_cast<std::int32_t>(value); };

  runtime::Defines defines{{"AXES", 3}, {"SRC_STORAGE", static_cast<int>(storage)}};
  runtime::launch(device, {"conv/gpu/conv2d_tiled_prepare.cl", "conv2d_tiled_pixels", defines},
                  target.flat_range(count), out(table), bytes_of(s.patches()), bytes_of(s.window()),
                  number(m * s.pixels()), number(count));
  runtime::KernelSpec spec = spec_of("conv/gpu/conv2d_tiled_weight.cl", "conv2d_tiled_weight", engine, tile, target);
  for (const runtime::Define& define : defines) spec.defines.add(define);
  const ops::TilePlan cut = ops::cut_tiles(engine, tile, {m, n, k}, 1);
  runtime::launch(
      device, spec, ops::range_of(engine, cut), in(from_dy), in(from_x), out(dw), in(table), in(dw), in(dw),
      bytes_of(kernels::EpilogueParameters{}), bytes_of(no_scalars),
      bytes_of(kernels::ProductParameters{m, n, k, k, 1, 0}),
      bytes_of(kernels::PixelsParameters{0, 0, number(s.channels * s.volume()), number(m * s.pixels()),
                                         number(s.taps[0]), number(s.taps[1]), number(s.taps[2]), number(s.volume()),
                                         slice, row, column, number(s.pixels()), number(s.pixels()), 0}));

  std::vector<double> expected(static_cast<std::size_t>(m * n));
  s.for_each_tap([&](std::int64_t pixel, std::int64_t tap, std::int64_t from) {
    for (std::int64_t image = 0; image < s.images; ++image)
      for (std::int64_t output = 0; output < m; ++output)
        for (std::int64_t c = 0; c < s.channels; ++c)
          expected[static_cast<std::size_t>(output * n + c * s.window_size() + tap)] +=
              dy[static_cast<std::size_t>((image * m + output) * s.pixels() + pixel)] *
              x[static_cast<std::size_t>((image * s.channels + c) * s.volume() + from)];
  });
  testing::check_close(dw, expected, {0});
}

}  // namespace

TEST_CASE("readers: a matrix product takes operands in every storage") {
  for_each_engine([](const ops::Engine& engine, const ops::TileShape& tile) {
    for (const Stored storage : {f16, bf16, i8}) {
      check_gemm(engine, tile, storage, f32, 1);
      check_gemm(engine, tile, f32, storage, 4);
      check_gemm(engine, tile, storage, storage, 4);
    }
  });
}

TEST_CASE("readers: a convolution with three spatial axes, with images in every storage") {
  for_each_engine([](const ops::Engine& engine, const ops::TileShape& tile) {
    for (const Stored storage : {f32, f16, bf16, i8}) check_forward(engine, tile, storage);
  });
}

TEST_CASE("readers: the gradient of the weight with three spatial axes, with operands in every storage") {
  for_each_engine([](const ops::Engine& engine, const ops::TileShape& tile) {
    for (const Stored storage : {f32, f16, bf16, i8}) check_weight(engine, tile, storage);
  });
}

}  // namespace crisol
