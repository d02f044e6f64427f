#include "onnx/reader/element_type.h"

namespace crisol::onnx::file {

namespace {

struct Row {
  const char *name, *onnx;
  int bits;
  DataField field;
  bool floating = false;
};

// One row for each type, at the type's number.
constexpr Row rows[]{
    {"undefined", "UNDEFINED", 0, DataField::none},
    {"f32", "FLOAT", 32, DataField::floats, true},
    {"u8", "UINT8", 8, DataField::int32s},
    {"i8", "INT8", 8, DataField::int32s},
    {"u16", "UINT16", 16, DataField::int32s},
    {"i16", "INT16", 16, DataField::int32s},
    {"i32", "INT32", 32, DataField::int32s},
    {"i64", "INT64", 64, DataField::int64s},
    {"string", "STRING", 0, DataField::strings},
    {"bool", "BOOL", 8, DataField::int32s},
    {"f16", "FLOAT16", 16, DataField::int32s, true},
    {"f64", "DOUBLE", 64, DataField::doubles, true},
    {"u32", "UINT32", 32, DataField::uint64s},
    {"u64", "UINT64", 64, DataField::uint64s},
    {"c64", "COMPLEX64", 64, DataField::floats},
    {"c128", "COMPLEX128", 128, DataField::doubles},
    {"bf16", "BFLOAT16", 16, DataField::int32s, true},
    {"f8e4m3fn", "FLOAT8E4M3FN", 8, DataField::int32s, true},
    {"f8e4m3fnuz", "FLOAT8E4M3FNUZ", 8, DataField::int32s, true},
    {"f8e5m2", "FLOAT8E5M2", 8, DataField::int32s, true},
    {"f8e5m2fnuz", "FLOAT8E5M2FNUZ", 8, DataField::int32s, true},
    {"u4", "UINT4", 4, DataField::int32s},
    {"i4", "INT4", 4, DataField::int32s},
    {"f4e2m1", "FLOAT4E2M1", 4, DataField::int32s, true},
    {"f8e8m0", "FLOAT8E8M0", 8, DataField::int32s, true},
    {"u2", "UINT2", 2, DataField::int32s},
    {"i2", "INT2", 2, DataField::int32s},
    {"f6e2m3", "FLOAT6E2M3", 6, DataField::int32s, true},
    {"f6e3m2", "FLOAT6E3M2", 6, DataField::int32s, true},
};

constexpr std::int64_t row_count = sizeof rows / sizeof rows[0];
static_assert(row_count == static_cast<std::int64_t>(ElementType::f6e3m2) + 1);

const Row& row_of(ElementType type) noexcept { return rows[static_cast<std::int32_t>(type)]; }

}  // namespace

std::optional<ElementType> element_type_of(std::int64_t number) noexcept {
  if (number < 0 || number >= row_count) return std::nullopt;
  return static_cast<ElementType>(number);
}

std::optional<ElementType> element_type_named(std::string_view name) noexcept {
  for (std::int64_t i = 0; i < row_count; ++i)
    if (name == rows[i].onnx) return static_cast<ElementType>(i);
  return std::nullopt;
}

const char* name_of(ElementType type) noexcept { return row_of(type).name; }
int bits_of(ElementType type) noexcept { return row_of(type).bits; }
bool is_floating(ElementType type) noexcept { return row_of(type).floating; }
DataField data_field_of(ElementType type) noexcept { return row_of(type).field; }

}  // namespace crisol::onnx::file
