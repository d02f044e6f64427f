// ONNX's element types. The library does not have all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace crisol::onnx::file {

/// The numbers are those of TensorProto.DataType in ONNX's files.
enum class ElementType : std::int32_t {
  undefined,
  f32,
  u8,
  i8,
  u16,
  i16,
  i32,
  i64,
  string,
  boolean,
  f16,
  f64,
  u32,
  u64,
  c64,
  c128,
  bf16,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  u4,
  i4,
  f4e2m1,
  f8e8m0,
  u2,
  i2,
  f6e2m3,
  f6e3m2,
};

/// The field of a TensorProto that holds the elements of a type. It is not used if the elements are in raw_data or in a
/// separate file. The values are the fields' numbers.
enum class DataField : std::uint32_t {
  none = 0,
  floats = 4,
  int32s = 5,
  strings = 6,
  int64s = 7,
  doubles = 10,
  uint64s = 11
};

/// The type with this number in a file. Nothing if ONNX has no such type.
std::optional<ElementType> element_type_of(std::int64_t number) noexcept;
/// The type with this name in the source of ONNX, such as "FLOAT". Nothing if ONNX has no such type.
std::optional<ElementType> element_type_named(std::string_view name) noexcept;
/// A name such as "f32", "i64", "bool", "string", "f8e4m3fn" or "undefined".
const char* name_of(ElementType type) noexcept;
/// The bits of one element. 0 for strings and undefined.
int bits_of(ElementType type) noexcept;
/// Whether a type is a floating-point number of any width. Complex types are not.
bool is_floating(ElementType type) noexcept;
/// The field for elements of this type.
DataField data_field_of(ElementType type) noexcept;

}  // namespace crisol::onnx::file
