// Printing in PyTorch's format.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <mutex>
#include <ostream>
#include <sstream>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/tensor.h"

namespace crisol {

namespace {

struct SharedOptions {
  std::mutex mutex;
  PrintOptions options;
};

SharedOptions& shared_options() {
  static SharedOptions shared;
  return shared;
}

struct Format {
  DType dtype{};
  int precision = 4;
  bool scientific = false, whole = true;
  int width = 1;
};

std::string text_of(const Scalar& number, const Format& format) {
  if (number.dtype() == DType::u64) return std::to_string(static_cast<std::uint64_t>(number.as_int()));
  if (is_whole(format.dtype)) return std::to_string(number.as_int());
  const double value = number.as_double();
  if (format.dtype == DType::boolean) return value != 0 ? "true" : "false";
  if (std::isnan(value)) return "nan";
  std::ostringstream out;
  if (format.scientific) {
    out << std::scientific << std::setprecision(format.precision) << value;
  } else {
    out << std::fixed << std::setprecision(format.whole ? 0 : format.precision) << value;
    if (format.whole && std::isfinite(value)) out << '.';
  }
  return out.str();
}

/// PyTorch's choice: zeros, NaN and infinity have no part in it.
Format choose_format(const std::vector<Scalar>& values, DType dtype, const PrintOptions& options) {
  Format format{dtype, options.precision};
  const bool floating = is_floating(dtype);
  const auto counts = [&](double value) { return !floating || (std::isfinite(value) && value != 0); };
  double largest = 0, smallest = HUGE_VAL;
  for (const Scalar& number : values) {
    const double value = number.as_double();
    if (!floating || !counts(value)) continue;
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
    format.whole = format.whole && value == std::floor(value);
  }
  if (largest > 0)
    format.scientific =
        options.scientific.value_or(largest / smallest > 1e3 || largest > 1e8 || (!format.whole && smallest < 1e-4));
  for (const Scalar& number : values)
    if (counts(number.as_double()))
      format.width = std::max(format.width, static_cast<int>(text_of(number, format).size()));
  return format;
}

class Printer {
 public:
  Printer(std::ostream& out, const Shape& shape, const std::vector<Scalar>& values, DType dtype,
          const PrintOptions& options)
      : out_(out),
        shape_(shape),
        values_(values),
        options_(options),
        format_(choose_format(shown_values(), dtype, options)) {}

  void print(int axis, std::int64_t first, int indent) {
    if (axis == shape_.rank()) {
      print_element(values_[static_cast<std::size_t>(first)]);
      return;
    }
    std::int64_t step = 1;
    for (int i = axis + 1; i < shape_.rank(); ++i) step *= shape_[i];
    out_ << '[';
    const bool last = axis + 1 == shape_.rank();
    const int on_line = last ? std::max(1, (options_.line_width - indent) / (format_.width + 2)) : 1;
    int count = 0;
    visit(shape_[axis], [&](std::int64_t i) {
      if (count > 0) separate(last && count % on_line != 0, last ? 1 : shape_.rank() - axis - 1, indent);
      ++count;
      if (i < 0)
        out_ << (last ? " ..." : "...");
      else
        print(axis + 1, first + i * step, indent + 1);
    });
    out_ << ']';
  }

 private:
  bool shortened() const { return static_cast<std::int64_t>(values_.size()) > options_.threshold; }

  // Calls f for each index to print. -1 stands for the dots.
  template <class F>
  void visit(std::int64_t size, F&& f) const {
    for (std::int64_t i = 0; i < size; ++i) {
      if (shortened() && size > 2 * options_.edge_items && i == options_.edge_items) {
        f(-1);
        i = size - options_.edge_items;
      }
      f(i);
    }
  }

  std::vector<Scalar> shown_values() const {
    std::vector<Scalar> shown;
    collect(0, 0, shown);
    return shown;
  }

  void collect(int axis, std::int64_t first, std::vector<Scalar>& shown) const {
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

  void separate(bool on_line, int lines, int indent) {
    out_ << ',';
    if (on_line)
      out_ << ' ';
    else
      out_ << std::string(static_cast<std::size_t>(lines), '\n')
           << std::string(static_cast<std::size_t>(indent) + 1, ' ');
  }

  void print_element(const Scalar& number) { out_ << std::setw(format_.width) << text_of(number, format_); }

  std::ostream& out_;
  const Shape& shape_;
  const std::vector<Scalar>& values_;
  const PrintOptions& options_;
  Format format_;
};

std::vector<Scalar> all_values(const Tensor& tensor) {
  return with_host_type(tensor.dtype(), [&](auto element) {
    const auto elements = tensor.to_vector<decltype(element)>();
    std::vector<Scalar> values;
    values.reserve(elements.size());
    for (const auto one : elements) {
      if constexpr (std::is_integral_v<decltype(element)>)
        values.emplace_back(static_cast<decltype(element)>(one));
      else
        values.emplace_back(as_double(one));
    }
    return values;
  });
}

}  // namespace

PrintOptions print_options() {
  SharedOptions& shared = shared_options();
  const std::lock_guard lock(shared.mutex);
  return shared.options;
}

void set_print_options(const PrintOptions& options) {
  const char* const op = "set_print_options";
  require(options.precision >= 0, op, "precision ", options.precision, " is negative");
  require(options.threshold >= 0, op, "threshold ", options.threshold, " is negative");
  require(options.edge_items >= 1, op, "edge_items ", options.edge_items, " is less than 1");
  require(options.line_width >= 1, op, "line_width ", options.line_width, " is less than 1");
  SharedOptions& shared = shared_options();
  const std::lock_guard lock(shared.mutex);
  shared.options = options;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "tensor(undefined)";
  const std::vector<Scalar> values = all_values(tensor);
  const PrintOptions options = print_options();
  std::ostringstream text;
  text << "tensor(";
  if (tensor.numel() > 0)
    Printer(text, tensor.shape(), values, tensor.dtype(), options).print(0, 0, 7);
  else
    text << "[], shape=" << tensor.shape();
  if (tensor.dtype() != default_dtype()) text << ", dtype=" << tensor.dtype();
  if (tensor.requires_grad()) text << ", requires_grad=true";
  return out << text.str() << ')';
}

}  // namespace crisol
