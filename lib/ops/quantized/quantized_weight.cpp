#include "crisol/quantized_weight.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/ceil_div.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"
#include "crisol/ops/quantized.h"
#include "ops/check.h"
#include "ops/quantized/quantized.h"

namespace crisol {

namespace {

constexpr const char* op_of_weight = "QuantizedWeight";
constexpr std::int64_t group_columns = ops::group_columns;

using Bytes = std::vector<std::uint8_t>;

void require_format(const char* op, int bits, std::int64_t block) {
  require(bits == 8 || bits == 4, op, "bits is ", bits, ", 8 and 4 are supported");
  require(block == 0 || block == 16 || (block > 0 && block % group_columns == 0), op, "block is ", block,
          ", 16, a multiple of 32, or 0 for a whole row expected");
}

/// How many codes and scales a row has.
struct Sizes {
  std::int64_t groups, blocks;
};

Sizes sizes_of(std::int64_t columns, std::int64_t block) {
  const std::int64_t whole = std::max(block, group_columns), groups = ceil_div(columns, whole) * whole / group_columns;
  return {groups, block == 0 ? 1 : groups * group_columns / block};
}

/// Writes the codes of columns in their order in memory.
class Packer {
 public:
  Packer(std::int64_t rows, std::int64_t groups, int bits)
      : bits_(bits), groups_(groups), bytes(static_cast<std::size_t>(rows * groups * 4 * bits)) {}

  void set(std::int64_t row, std::int64_t column, std::uint8_t code) {
    const std::int64_t place = column % group_columns, group = row * groups_ + column / group_columns;
    if (bits_ == 8)
      bytes[static_cast<std::size_t>(group * group_columns + place)] = code;
    else
      bytes[static_cast<std::size_t>(group * 16 + place % 16)] |=
          static_cast<std::uint8_t>((code & 15) << (place < 16 ? 0 : 4));
  }

 private:
  int bits_;
  std::int64_t groups_;

 public:
  Bytes bytes;
};

void require_range(const char* op, const char* name, const std::vector<std::uint8_t>& codes, int bits) {
  for (const std::uint8_t code : codes)
    require(code >> bits == 0, op, name, " have ", int{code}, ", above the largest of ", bits, " bits");
}

Shape matrix_shape(const char* op, const Shape& shape) {
  require(shape.rank() == 2 && shape[0] > 0 && shape[1] > 0, op, "the shape is ", shape,
          ", (rows, columns) with elements expected");
  return shape;
}

/// Scales of whole blocks in f16, and codes, from the blocks of a file of llama.cpp. `convert` gives the code of column
/// i of a block.
template <class Convert>
QuantizedWeight from_blocks(const char* op, const void* bytes, std::size_t size, const Shape& shape, int bits,
                            Device device, const Convert& convert) {
  matrix_shape(op, shape);
  require(shape[1] % group_columns == 0, op, "a row has ", shape[1], " columns, a multiple of 32 expected");
  const std::int64_t blocks = shape[1] / group_columns;
  const std::size_t bytes_of_block = 2 + 4 * static_cast<std::size_t>(bits);
  const std::size_t count = static_cast<std::size_t>(shape[0] * blocks);
  require(size == count * bytes_of_block, op, size, " bytes for shape ", shape, ", ", count * bytes_of_block,
          " expected");
  Packer codes(shape[0], blocks, bits);
  Bytes scales(2 * count);
  for (std::size_t b = 0; b < count; ++b) {
    const std::uint8_t* const from = static_cast<const std::uint8_t*>(bytes) + b * bytes_of_block;
    std::memcpy(scales.data() + 2 * b, from, 2);
    const std::int64_t row = static_cast<std::int64_t>(b) / blocks, first = static_cast<std::int64_t>(b) % blocks;
    for (int i = 0; i < group_columns; ++i) codes.set(row, first * group_columns + i, convert(from + 2, i));
  }
  return {from_bytes(codes.bytes.data(), {shape[0], blocks * 4 * bits}, DType::u8, device),
          ops::cast(from_bytes(scales.data(), {shape[0], blocks}, DType::f16, device), DType::f32),
          Tensor(),
          shape[1],
          bits,
          group_columns};
}

}  // namespace

QuantizedWeight::QuantizedWeight(Tensor codes, Tensor scales, Tensor zero_points, std::int64_t columns, int bits,
                                 std::int64_t block)
    : codes_(std::move(codes)),
      scales_(std::move(scales)),
      zero_points_(std::move(zero_points)),
      columns_(columns),
      block_(block),
      bits_(bits) {
  const char* const op = op_of_weight;
  require_format(op, bits, block);
  require(codes_.defined() && scales_.defined(), op, "codes or scales are undefined");
  require(codes_.dim() == 2 && codes_.size(0) > 0 && columns > 0, op, "the codes have shape ", codes_.shape(), " for ",
          columns, " columns");
  const Sizes sizes = sizes_of(columns, block);
  ops::require_operand(op, "the codes", codes_, "the codes", codes_, {codes_.size(0), sizes.groups * 4 * bits},
                       DType::u8);
  const Shape of_blocks{codes_.size(0), sizes.blocks};
  ops::require_operand(op, "the codes", codes_, "the scales", scales_, of_blocks, DType::f32);
  if (zero_points_.defined())
    ops::require_operand(op, "the codes", codes_, "the zero points", zero_points_, of_blocks, DType::u8);
  codes_ = ops::contiguous(codes_);
  scales_ = ops::contiguous(scales_);
  if (zero_points_.defined()) zero_points_ = ops::contiguous(zero_points_);
}

QuantizedWeight QuantizedWeight::from_q8_0(const void* bytes, std::size_t size, const Shape& shape, Device device) {
  return from_blocks("from_q8_0", bytes, size, shape, 8, device, [](const std::uint8_t* codes, int i) {
    return static_cast<std::uint8_t>(codes[i] ^ 0x80);  // Signed numbers become codes with the zero point 128.
  });
}

QuantizedWeight QuantizedWeight::from_q4_0(const void* bytes, std::size_t size, const Shape& shape, Device device) {
  return from_blocks("from_q4_0", bytes, size, shape, 4, device, [](const std::uint8_t* codes, int i) {
    return static_cast<std::uint8_t>(i < 16 ? codes[i] & 15 : codes[i - 16] >> 4);
  });
}

QuantizedWeight QuantizedWeight::from_codes(const std::vector<std::uint8_t>& codes, const std::vector<float>& scales,
                                            const std::vector<std::uint8_t>& zero_points, const Shape& shape, int bits,
                                            std::int64_t block, Device device) {
  constexpr const char* op = "from_codes";
  matrix_shape(op, shape);
  require_format(op, bits, block);
  const std::int64_t rows = shape[0], columns = shape[1], given = block == 0 ? 1 : ceil_div(columns, block);
  const auto count = static_cast<std::size_t>(rows * given);
  require(codes.size() == static_cast<std::size_t>(rows * columns), op, codes.size(), " codes for shape ", shape);
  require(scales.size() == count && (zero_points.empty() || zero_points.size() == count), op, scales.size(),
          " scales and ", zero_points.size(), " zero points, ", count, " expected");
  require_range(op, "codes", codes, bits);
  require_range(op, "zero points", zero_points, bits);
  const Sizes sizes = sizes_of(columns, block);
  const std::int64_t each = block == 0 ? columns : block;
  Packer packed(rows, sizes.groups, bits);
  std::vector<float> all_scales(static_cast<std::size_t>(rows * sizes.blocks));
  const auto usual = static_cast<std::uint8_t>(1 << (bits - 1));
  Bytes all_zeros(zero_points.empty() ? 0 : all_scales.size(), usual);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t b = 0; b < given; ++b) {
      const auto to = static_cast<std::size_t>(r * sizes.blocks + b), from = static_cast<std::size_t>(r * given + b);
      all_scales[to] = scales[from];
      if (!zero_points.empty()) all_zeros[to] = zero_points[from];
    }
    for (std::int64_t c = 0; c < sizes.groups * group_columns; ++c) {
      const auto zero_at = static_cast<std::size_t>(r * sizes.blocks + (block == 0 ? 0 : c / each));
      const std::uint8_t zero = all_zeros.empty() ? usual : all_zeros[zero_at];
      packed.set(r, c, c < columns ? codes[static_cast<std::size_t>(r * columns + c)] : zero);
    }
  }
  const Shape of_blocks{rows, sizes.blocks};
  return {from_bytes(packed.bytes.data(), {rows, sizes.groups * 4 * bits}, DType::u8, device),
          from_bytes(all_scales.data(), of_blocks, DType::f32, device),
          all_zeros.empty() ? Tensor() : from_bytes(all_zeros.data(), of_blocks, DType::u8, device),
          columns,
          bits,
          block};
}

Tensor QuantizedWeight::dequantize() const { return ops::dequantize(*this); }

QuantizedWeight quantize(const Tensor& weight, const QuantizeOptions& options) {
  constexpr const char* op = "quantize";
  require(weight.defined(), op, "the weight is undefined");
  require(is_floating(weight.dtype()), op, "the weight must be ", TypesThat{is_floating}, ", it is ", weight.dtype());
  matrix_shape(op, weight.shape());
  require_format(op, options.bits, options.block);
  const std::int64_t rows = weight.size(0), columns = weight.size(1);
  const std::int64_t each = options.block == 0 ? columns : options.block, blocks = ceil_div(columns, each);
  const std::vector<float> values = ops::cast(weight.detach(), DType::f32).to_vector<float>();
  const int largest = (1 << options.bits) - 1, middle = (largest + 1) / 2;
  Bytes codes(values.size()), zeros;
  std::vector<float> scales;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t b = 0; b < blocks; ++b) {
      const auto first = static_cast<std::size_t>(r * columns + b * each);
      const auto end = static_cast<std::size_t>(r * columns + std::min(columns, (b + 1) * each));
      float least = 0, most = 0;
      for (std::size_t i = first; i < end; ++i) {
        require(std::isfinite(values[i]), op, "element ", i, " is ", values[i]);
        least = std::min(least, values[i]);
        most = std::max(most, values[i]);
      }
      const double range = options.symmetric ? std::max<double>(most, -least) : static_cast<double>(most) - least;
      const auto scale = static_cast<float>(range / (options.symmetric ? middle - 1 : largest));
      const double divisor = scale > 0 ? scale : 1;
      const double zero =
          options.symmetric ? middle : std::clamp(std::nearbyint(-least / divisor), 0.0, double(largest));
      scales.push_back(scale);
      if (!options.symmetric) zeros.push_back(static_cast<std::uint8_t>(zero));
      for (std::size_t i = first; i < end; ++i)
        codes[i] =
            static_cast<std::uint8_t>(std::clamp(std::nearbyint(values[i] / divisor) + zero, 0.0, double(largest)));
    }
  return QuantizedWeight::from_codes(codes, scales, zeros, weight.shape(), options.bits, options.block,
                                     weight.device());
}

}  // namespace crisol
