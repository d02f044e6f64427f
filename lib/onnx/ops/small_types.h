// Element types of ONNX with at most 8 bits that the library does not have. Their numbers are kept in a dtype that has
// all of them: ops that move elements then work as they are, and only conversions to such a type need more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "crisol/tensor.h"
#include "graph/graph.h"
#include "onnx/ops/call.h"
#include "onnx/ops/domains/device_parts.h"
#include "onnx/reader/element_type.h"

namespace crisol::onnx {

/// What the codes of a floating-point type mean that are no finite numbers.
enum class Specials : std::uint8_t {
  none,         ///< All codes are numbers.
  last_is_nan,  ///< The last code of a sign is NaN.
  as_in_ieee,   ///< The last exponent has the infinity and NaN.
  minus_zero,   ///< The code of -0 is NaN.
};

/// The least and the greatest number of a type of whole numbers with at most 32 bits.
struct Range {
  explicit Range(DType dtype) noexcept;
  Range(int digits, bool has_sign) noexcept;

  double least, greatest;
};

struct SmallType {
  file::ElementType type;
  DType kept;  ///< The dtype of tensors with such numbers.
  bool has_sign;
  int exponent;  ///< The bits of the exponent. 0 for whole numbers.
  int fraction;  ///< The bits of the fraction. For whole numbers all bits but the sign.
  int bias = 0;  ///< What the exponent counts from.
  Specials specials = Specials::none;

  bool is_whole() const noexcept { return exponent == 0; }
  Range range() const noexcept { return {fraction, has_sign}; }
  int bits() const noexcept { return exponent + fraction + (has_sign ? 1 : 0); }
};

/// The row of a type. Null for types that the library has, and for those that it cannot keep.
const SmallType* small_type(file::ElementType type) noexcept;
/// The type of a value's numbers. Null if the value's dtype says all.
inline const SmallType* small_type(const graph::Value& value) noexcept {
  return small_type(static_cast<file::ElementType>(value.small));
}

/// A type of a file as the library keeps it.
struct Element {
  DType dtype;
  const SmallType* small = nullptr;

  /// Makes this the type of a value.
  void describe(graph::Value& value) const {
    value.dtype = dtype;
    value.small = small == nullptr ? 0 : static_cast<int>(small->type);
  }
};

/// Nothing for types that the library cannot keep.
std::optional<Element> element_of(file::ElementType type) noexcept;
/// The type for a number in an attribute. Throws Error (invalid_argument) if the library cannot keep it.
Element element_of_number(std::int64_t number);

/// The elements of a file, which are packed, as elements of the kept dtype.
std::string unpacked(std::string_view packed, std::int64_t count, const SmallType& type);

/// How numbers become numbers of a small type.
struct Rounding {
  /// Reads the attributes of a conversion.
  explicit Rounding(Call& call);

  enum class Mode : std::uint8_t { up, down, nearest };

  bool saturates;  ///< Whether numbers that are too large become the largest number.
  Mode mode;       ///< For f8e8m0. Other types round to the nearest number, and in the middle to an even code.
};

/// Gives the numbers of a tensor in a small type, as elements of its kept dtype. Whole numbers keep their lowest bits.
class ToSmallType {
 public:
  ToSmallType(const SmallType& type, Rounding rounding);

  Tensor operator()(const Tensor& x) const;

 private:
  /// |x| becomes numbers[k] if it is above k of the limits.
  struct Ladder {
    Tensor limits, numbers;
  };

  static Ladder ladder_of(const SmallType& type, Rounding rounding, Device device);

  const SmallType* type_;
  DeviceParts<Ladder> ladder_;
};

/// A node that converts input 0 to a small type.
graph::Run cast_to_small_type(Call& call, const SmallType& type, const Rounding& rounding);

}  // namespace crisol::onnx
