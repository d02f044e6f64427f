// Printing in PyTorch's format.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/tensor.h"

namespace crisol {

namespace {

constexpr std::int64_t summarise_above = 1000;
constexpr std::int64_t edge_items = 3;

struct Format {
  bool floating = false, scientific = false, whole = false;
  int width = 0;
};

std::string number(double value, const Format& format) {
  std::ostringstream out;
  if (!format.floating || !std::isfinite(value)) {
    out << value;
  } else if (format.scientific) {
    out << std::scientific << std::setprecision(4) << value;
  } else if (format.whole) {
    out << std::fixed << std::setprecision(0) << value << '.';
  } else {
    out << std::fixed << std::setprecision(4) << value;
  }
  return out.str();
}

Format choose_format(const std::vector<double>& values, DType dtype) {
  Format format;
  format.floating = is_floating(dtype);
  double largest = 0, smallest = HUGE_VAL;
  format.whole = true;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const double magnitude = std::abs(value);
    largest = std::max(largest, magnitude);
    if (magnitude > 0) smallest = std::min(smallest, magnitude);
    format.whole = format.whole && value == std::floor(value);
  }
  format.scientific = format.floating && largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1e5);
  if (format.scientific) format.whole = false;
  for (const double value : values)
    format.width = std::max(format.width, static_cast<int>(number(value, format).size()));
  return format;
}

class Printer {
 public:
  Printer(std::ostream& out, const Shape& shape, const std::vector<double>& values, DType dtype)
      : out_(out), shape_(shape), values_(values), dtype_(dtype), format_(choose_format(shown_values(), dtype)) {}

  void print(int axis, std::int64_t first, int indent) {
    if (axis == shape_.rank()) {
      print_element(values_[static_cast<std::size_t>(first)]);
      return;
    }
    std::int64_t step = 1;
    for (int i = axis + 1; i < shape_.rank(); ++i) step *= shape_[i];
    out_ << '[';
    bool is_first = true;
    visit(shape_[axis], [&](std::int64_t i) {
      if (!is_first) separate(axis, indent);
      is_first = false;
      if (i < 0)
        out_ << "...";
      else
        print(axis + 1, first + i * step, indent + 1);
    });
    out_ << ']';
  }

 private:
  bool shortened() const { return static_cast<std::int64_t>(values_.size()) > summarise_above; }

  // Calls f for each index to print. -1 stands for the dots.
  template <class F>
  void visit(std::int64_t size, F&& f) const {
    for (std::int64_t i = 0; i < size; ++i) {
      if (shortened() && size > 2 * edge_items && i == edge_items) {
        f(-1);
        i = size - edge_items;
      }
      f(i);
    }
  }

  std::vector<double> shown_values() const {
    std::vector<double> shown;
    collect(0, 0, shown);
    return shown;
  }

  void collect(int axis, std::int64_t first, std::vector<double>& shown) const {
    if (axis == shape_.rank()) {
      shown.push_back(values_[static_cast<std::size_t>(first)]);
      return;
    }
    std::int64_t step = 1;
    for (int i = axis + 1; i < shape_.rank(); ++i) step *= shape_[i];
    visit(shape_[axis], [&](std::int64_t i) {
      if (i >= 0) collect(axis + 1, first + i * step, shown);
    });
  }

  void separate(int axis, int indent) {
    out_ << ',';
    const int deeper = shape_.rank() - axis - 1;
    if (deeper == 0) {
      out_ << ' ';
      return;
    }
    for (int i = 0; i < deeper; ++i) out_ << '\n';
    out_ << std::string(static_cast<std::size_t>(indent) + 1, ' ');
  }

  void print_element(double value) {
    if (dtype_ == DType::boolean)
      out_ << (value != 0 ? "true" : "false");
    else
      out_ << std::setw(format_.width) << number(value, format_);
  }

  std::ostream& out_;
  const Shape& shape_;
  const std::vector<double>& values_;
  DType dtype_;
  Format format_;
};

std::vector<double> all_values(const Tensor& tensor) {
  return with_host_type(tensor.dtype(), [&](auto element) {
    const auto elements = tensor.to_vector<decltype(element)>();
    std::vector<double> values(elements.size());
    std::transform(elements.begin(), elements.end(), values.begin(),
                   [](decltype(element) one) { return as_double(one); });
    return values;
  });
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "tensor(undefined)";
  const std::vector<double> values = all_values(tensor);
  std::ostringstream text;
  text << "tensor(";
  Printer(text, tensor.shape(), values, tensor.dtype()).print(0, 0, 7);
  if (tensor.numel() == 0) text << ", shape=" << tensor.shape();
  if (tensor.dtype() != DType::f32) text << ", dtype=" << tensor.dtype();
  if (tensor.requires_grad()) text << ", requires_grad=true";
  return out << text.str() << ')';
}

}  // namespace crisol
