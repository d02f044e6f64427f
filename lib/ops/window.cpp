#include "ops/window.h"

#include <algorithm>
#include <ostream>

#include "base/ceil_div.h"
#include "base/text.h"

namespace crisol {

std::ostream& operator<<(std::ostream& out, IntPair pair) { return out << '(' << pair.h << ", " << pair.w << ')'; }

std::ostream& operator<<(std::ostream& out, IntTriple triple) {
  return out << '(' << triple.d << ", " << triple.h << ", " << triple.w << ')';
}

namespace ops {

std::int64_t window_count(const char* op, const char* axis_name, const WindowAxis& axis, bool ceil_mode) {
  require(axis.kernel > 0, op, "the kernel's ", axis_name, " is ", axis.kernel, ", it must be positive");
  require(axis.stride > 0, op, "the stride's ", axis_name, " is ", axis.stride, ", it must be positive");
  require(axis.dilation > 0, op, "the dilation's ", axis_name, " is ", axis.dilation, ", it must be positive");
  require(axis.padding >= 0, op, "the padding's ", axis_name, " is ", axis.padding, ", it must not be negative");
  const std::int64_t extent = std::int64_t{axis.dilation} * (axis.kernel - 1) + 1;
  const std::int64_t room = axis.size + 2 * std::int64_t{axis.padding} - extent;
  require(room >= 0, op, "a window of ", axis_name, ' ', extent, " (kernel ", axis.kernel, ", dilation ", axis.dilation,
          ") does not fit into an input of ", axis_name, ' ', axis.size, " with padding ", axis.padding);
  std::int64_t count = (room + (ceil_mode ? axis.stride - 1 : 0)) / axis.stride + 1;
  if ((count - 1) * axis.stride >= axis.size + axis.padding && ceil_mode) --count;
  return count;
}

AxisPadding same_padding(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                         bool more_before) {
  const std::int64_t extent = dilation * (kernel - 1) + 1;
  const std::int64_t covered = (ceil_div(size, stride) - 1) * stride + extent;
  const std::int64_t total = std::max<std::int64_t>(covered - size, 0), less = total / 2;
  return more_before ? AxisPadding{total - less, less} : AxisPadding{less, total - less};
}

}  // namespace ops
}  // namespace crisol
