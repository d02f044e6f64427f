#include "onnx/ops/small_types.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/functions/elementwise.h"
#include "crisol/functions/index.h"
#include "crisol/functions/sort.h"
#include "crisol/fuse.h"
#include "onnx/ops/element_types.h"

namespace crisol::onnx {

namespace {

using file::ElementType;

constexpr SmallType all_types[]{
    {ElementType::u2, DType::u8, false, 0, 2},
    {ElementType::i2, DType::i8, true, 0, 1},
    {ElementType::u4, DType::u8, false, 0, 4},
    {ElementType::i4, DType::i8, true, 0, 3},
    {ElementType::f4e2m1, DType::f16, true, 2, 1, 1},
    {ElementType::f6e2m3, DType::f16, true, 2, 3, 1},
    {ElementType::f6e3m2, DType::f16, true, 3, 2, 3},
    {ElementType::f8e4m3fn, DType::f16, true, 4, 3, 7, Specials::last_is_nan},
    {ElementType::f8e4m3fnuz, DType::f16, true, 4, 3, 8, Specials::minus_zero},
    {ElementType::f8e5m2, DType::f16, true, 5, 2, 15, Specials::as_in_ieee},
    {ElementType::f8e5m2fnuz, DType::f16, true, 5, 2, 16, Specials::minus_zero},
    {ElementType::f8e8m0, DType::f32, false, 8, 0, 127, Specials::last_is_nan},
};

/// The number of a code without its sign, by the rule of finite numbers.
double magnitude(int code, const SmallType& type) noexcept {
  if (type.is_whole()) return code;
  const int fraction = code & ((1 << type.fraction) - 1), exponent = code >> type.fraction;
  const bool is_normal = exponent != 0 || type.fraction == 0;
  return std::ldexp(fraction + (is_normal ? 1 << type.fraction : 0),
                    (is_normal ? exponent : 1) - type.bias - type.fraction);
}

/// How many codes without a sign are finite numbers. They are the first ones.
int finite_codes(const SmallType& type) noexcept {
  const int all = 1 << (type.exponent + type.fraction);
  switch (type.specials) {
    case Specials::none:
    case Specials::minus_zero: break;
    case Specials::last_is_nan: return all - 1;
    case Specials::as_in_ieee: return all - (1 << type.fraction);
  }
  return all;
}

double number_of(int code, const SmallType& type) noexcept {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const int sign = 1 << (type.exponent + type.fraction), rest = code & (sign - 1);
  const bool is_negative = type.has_sign && (code & sign) != 0;
  if (type.is_whole()) return is_negative ? rest - sign : rest;
  if (type.specials == Specials::minus_zero && code == sign) return nan;
  double number = magnitude(rest, type);
  if (const int finite = finite_codes(type); rest >= finite)
    number = type.specials == Specials::as_in_ieee && rest == finite ? std::numeric_limits<double>::infinity() : nan;
  return is_negative ? -number : number;
}

/// The largest number that becomes the code and not the next one.
float limit_after(int code, const SmallType& type, Rounding::Mode mode) {
  const double own = magnitude(code, type), next = magnitude(code + 1, type);
  const auto below = [](double number) { return std::nextafter(static_cast<float>(number), 0.0F); };
  const bool is_scale = type.fraction == 0;
  if (is_scale && mode == Rounding::Mode::up) return static_cast<float>(own);
  if (is_scale && mode == Rounding::Mode::down) return below(next);
  const double middle = (own + next) / 2;
  return is_scale || code % 2 != 0 ? below(middle) : static_cast<float>(middle);
}

/// The lowest bits of whole numbers.
Tensor lowest_bits(const Tensor& x, const SmallType& type) {
  const int numbers = 1 << type.bits(), negative = type.has_sign ? numbers / 2 : 0;
  return (remainder(x.to(DType::i32) + negative, numbers) - negative).to(type.kept);
}

}  // namespace

Range::Range(int digits, bool has_sign) noexcept {
  const auto numbers = static_cast<double>(std::int64_t{1} << digits);
  least = has_sign ? -numbers : 0;
  greatest = numbers - 1;
}

Range::Range(DType dtype) noexcept : Range(dtype_row(dtype).digits, kind_of(dtype) != DTypeKind::unsigned_integer) {}

const SmallType* small_type(ElementType type) noexcept {
  const auto* const row =
      std::find_if(std::begin(all_types), std::end(all_types), [&](const auto& r) { return r.type == type; });
  return row == std::end(all_types) ? nullptr : row;
}

std::optional<Element> element_of(ElementType type) noexcept {
  if (const SmallType* const small = small_type(type)) return Element{small->kept, small};
  if (const auto dtype = dtype_of(type)) return Element{*dtype};
  return {};
}

Element element_of_number(std::int64_t number) {
  const auto type = file::element_type_of(number);
  const SmallType* const small = type ? small_type(*type) : nullptr;
  return small != nullptr ? Element{small->kept, small} : Element{dtype_of_number(number)};
}

std::string unpacked(std::string_view packed, std::int64_t count, const SmallType& type) {
  const int bits = type.bits(), codes = 1 << bits;
  std::string elements;  // Of all codes.
  for (int code = 0; code < codes; ++code)
    with_host_type(type.kept, [&](auto element) {
      element = static_cast<decltype(element)>(static_cast<float>(number_of(code, type)));
      elements.append(reinterpret_cast<const char*>(&element), sizeof element);
    });
  const auto byte_at = [&](std::size_t i) { return i < packed.size() ? static_cast<unsigned char>(packed[i]) : 0; };
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(count) * size_of(type.kept));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {  // The first number is in the lowest bits.
    const std::size_t at = i * static_cast<std::size_t>(bits);
    const int code = (byte_at(at / 8) | byte_at(at / 8 + 1) << 8) >> (at % 8) & (codes - 1);
    bytes.append(elements, static_cast<std::size_t>(code) * size_of(type.kept), size_of(type.kept));
  }
  return bytes;
}

Rounding::Rounding(Call& call) : saturates(call.integer("saturate", 1) != 0) {
  const std::string text = call.text_of("round_mode", {"up", "down", "nearest"});
  mode = text == "up" ? Mode::up : text == "down" ? Mode::down : Mode::nearest;
}

ToSmallType::Ladder ToSmallType::ladder_of(const SmallType& type, Rounding rounding, Device device) {
  std::vector<float> limits, numbers;
  const int finite = finite_codes(type);
  for (int code = 0; code < finite; ++code) {
    numbers.push_back(static_cast<float>(magnitude(code, type)));
    if (code + 1 < finite || !rounding.saturates) limits.push_back(limit_after(code, type, rounding.mode));
  }
  if (!rounding.saturates)
    numbers.push_back(type.specials == Specials::as_in_ieee ? std::numeric_limits<float>::infinity()
                                                            : std::numeric_limits<float>::quiet_NaN());
  return {from_vector(limits, device), from_vector(numbers, device)};
}

ToSmallType::ToSmallType(const SmallType& type, Rounding rounding)
    : type_(&type), ladder_([&type, rounding](Device device) { return ladder_of(type, rounding, device); }) {}

Tensor ToSmallType::operator()(const Tensor& x) const {
  if (type_->is_whole()) return lowest_bits(x, *type_);
  static const auto without_sign =
      fuse([](const Expr& number, const Expr& from, const Expr& nan) { return where(isfinite(from), number, nan); },
           "without_sign");
  static const auto with_sign =
      fuse([](const Expr& number, const Expr& from,
              const Expr& of_nan) { return where(isnan(from), of_nan, copysign(number, from)); },
           "with_sign");
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor real = x.to(DType::f32);
  const Ladder ladder = ladder_.on(x.device());
  const Tensor code = searchsorted(ladder.limits, abs(real));
  const Tensor number = index_select(ladder.numbers, 0, code.reshape({x.numel()})).reshape(x.shape());
  if (!type_->has_sign) return without_sign(number, real, nan).to(type_->kept);
  const Tensor y = with_sign(number, real, type_->specials == Specials::none ? 0 : nan);
  return (type_->specials == Specials::minus_zero ? where(y.eq(0), 0, y) : y).to(type_->kept);
}

graph::Run cast_to_small_type(Call& call, const SmallType& type, const Rounding& rounding) {
  graph::Value value = call.input(0);
  Element{type.kept, &type}.describe(value);
  call.gives(0, value);
  call.differs();
  return [to_type = ToSmallType(type, rounding)](const graph::Data& in, Device device) {
    return graph::Data{to_type(in[0].tensor(device))};
  };
}

}  // namespace crisol::onnx
