#include "nn/same_padding.h"

namespace crisol::python {

namespace {

int same(int kernel, int stride, int dilation) {
  if (stride != 1) throw nb::value_error("padding=\"same\" needs stride 1");
  if (dilation * (kernel - 1) % 2 != 0)
    throw nb::value_error("padding=\"same\" needs the same number of zeros on both sides: an odd kernel_size");
  return dilation * (kernel - 1) / 2;
}

/// True for "same", false for "valid".
bool is_same(const std::string& name) {
  if (name != "same" && name != "valid") throw nb::value_error("padding is numbers, \"same\" or \"valid\"");
  return name == "same";
}

}  // namespace

IntSingle padding_of(nb::handle padding, IntSingle kernel, IntSingle stride, IntSingle dilation) {
  if (!nb::isinstance<nb::str>(padding)) return nb::cast<IntSingle>(padding);
  return is_same(nb::cast<std::string>(padding)) ? same(kernel, stride, dilation) : 0;
}

IntPair padding_of(nb::handle padding, IntPair kernel, IntPair stride, IntPair dilation) {
  if (!nb::isinstance<nb::str>(padding)) return nb::cast<IntPair>(padding);
  if (!is_same(nb::cast<std::string>(padding))) return 0;
  return {same(kernel.h, stride.h, dilation.h), same(kernel.w, stride.w, dilation.w)};
}

IntTriple padding_of(nb::handle padding, IntTriple kernel, IntTriple stride, IntTriple dilation) {
  if (!nb::isinstance<nb::str>(padding)) return nb::cast<IntTriple>(padding);
  if (!is_same(nb::cast<std::string>(padding))) return 0;
  return {same(kernel.d, stride.d, dilation.d), same(kernel.h, stride.h, dilation.h),
          same(kernel.w, stride.w, dilation.w)};
}

}  // namespace crisol::python
