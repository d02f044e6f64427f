#include "nn/same_padding.h"

namespace crisol::python {

namespace {

std::vector<int> read_numbers(nb::handle padding, std::size_t axes) {
  std::vector<int> numbers(axes);
  if (!read_ints(padding.ptr(), numbers.data(), static_cast<int>(axes)))
    throw nb::type_error(
        ("padding is one number, " + std::to_string(axes) + " numbers, \"same\" or \"valid\"").c_str());
  return numbers;
}

}  // namespace

ConvPadding read_padding(nb::handle padding, const std::vector<int>& kernel, const std::vector<int>& stride,
                         const std::vector<int>& dilation) {
  ConvPadding result;
  if (!nb::isinstance<nb::str>(padding)) {
    result.before = result.after = read_numbers(padding, kernel.size());
    return result;
  }
  const std::string name = nb::cast<std::string>(padding);
  if (name != "same" && name != "valid") throw nb::value_error("padding is numbers, \"same\" or \"valid\"");
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (name == "same" && stride[i] != 1) throw nb::value_error("padding=\"same\" needs stride 1");
    const int total = name == "same" ? dilation[i] * (kernel[i] - 1) : 0;
    result.before.push_back(total / 2);
    result.after.push_back(total - total / 2);
  }
  return result;
}

}  // namespace crisol::python
