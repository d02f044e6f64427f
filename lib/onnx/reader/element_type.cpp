#include "onnx/reader/element_type.h"

namespace crisol::onnx::file {

namespace {

struct Row {
  const char* name;
  int bits;
  DataField field;
  bool floating = false;
};

// One row for each type, at the type's number.
constexpr Row rows[]{
    {"undefined", 0, DataField::none},
    {"f32", 32, DataField::floats, true},
    {"u8", 8, DataField::int32s},
    {"i8", 8, DataField::int32s},
    {"u16", 16, DataField::int32s},
    {"i16", 16, DataField::int32s},
    {"i32", 32, DataField::int32s},
    {"i64", 64, DataField::int64s},
    {"string", 0, DataField::strings},
    {"bool", 8, DataField::int32s},
    {"f16", 16, DataField::int32s, true},
    {"f64", 64, DataField::doubles, true},
    {"u32", 32, DataField::uint64s},
    {"u64", 64, DataField::uint64s},
    {"c64", 64, DataField::floats},
    {"c128", 128, DataField::doubles},
    {"bf16", 16, DataField::int32s, true},
    {"f8e4m3fn", 8, DataField::int32s, true},
    {"f8e4m3fnuz", 8, DataField::int32s, true},
    {"f8e5m2", 8, DataField::int32s, true},
    {"f8e5m2fnuz", 8, DataField::int32s, true},
    {"u4", 4, DataField::int32s},
    {"i4", 4, DataField::int32s},
    {"f4e2m1", 4, DataField::int32s, true},
    {"f8e8m0", 8, DataField::int32s, true},
    {"u2", 2, DataField::int32s},
    {"i2", 2, DataField::int32s},
    {"f6e2m3", 6, DataField::int32s, true},
    {"f6e3m2", 6, DataField::int32s, true},
};

constexpr std::int64_t row_count = sizeof rows / sizeof rows[0];
static_assert(row_count == static_cast<std::int64_t>(ElementType::f6e3m2) + 1);

const Row& row_of(ElementType type) noexcept { return rows[static_cast<std::int32_t>(type)]; }

}  // namespace

std::optional<ElementType> element_type_of(std::int64_t number) noexcept {
  if (number < 0 || number >= row_count) return std::nullopt;
  return static_cast<ElementType>(number);
}

const char* name_of(ElementType type) noexcept { return row_of(type).name; }
int bits_of(ElementType type) noexcept { return row_of(type).bits; }
bool is_floating(ElementType type) noexcept { return row_of(type).floating; }
DataField data_field_of(ElementType type) noexcept { return row_of(type).field; }

}  // namespace crisol::onnx::file
