#include "ops/conv/conv2d_winograd.h"

namespace crisol::ops {

WinogradSizes winograd_sizes(const Conv2dSizes& s, std::int64_t tile, bool data) {
  const auto pad_h = static_cast<std::int32_t>(data ? 2 - s.pad_h : s.pad_h);
  const auto pad_w = static_cast<std::int32_t>(data ? 2 - s.pad_w : s.pad_w);
  if (data) return {s.images, s.outputs, s.out_h, s.out_w, s.channels, s.height, s.width, pad_h, pad_w, tile, true};
  return {s.images, s.channels, s.height, s.width, s.outputs, s.out_h, s.out_w, pad_h, pad_w, tile, false};
}

const char* check_winograd_form(const Conv2dSizes& s) {
  if (s.kernel_h != 3 || s.kernel_w != 3) return "the kernel is not 3 x 3";
  if (s.stride_h != 1 || s.stride_w != 1 || s.dilation_h != 1 || s.dilation_w != 1)
    return "a stride or dilation above 1";
  if (s.groups != 1) return "groups";
  if (s.pad_h > 2 || s.pad_w > 2) return "a padding above 2";
  if (s.channels == 0 || s.outputs == 0 || s.images == 0) return "nothing to add up";
  return nullptr;
}

}  // namespace crisol::ops
