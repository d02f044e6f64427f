#include "crisol/nn/resample.h"

#include "base/text.h"
#include "crisol/functions/vision.h"
#include "nn/repr.h"

namespace crisol::nn {

namespace {

const char* name_of(const InterpolateOptions& options, std::int64_t axes) {
  switch (options.mode) {
    case InterpolateMode::nearest: return "nearest";
    case InterpolateMode::nearest_exact: return "nearest-exact";
    case InterpolateMode::cubic: return "bicubic";
    case InterpolateMode::linear: break;
  }
  return axes == 2 ? "bilinear" : axes == 3 ? "trilinear" : "linear";
}

}  // namespace

Tensor Upsample::forward(const Tensor& x) { return interpolate(x, options_); }

std::string Upsample::extra_repr() const {
  if (options_.scale_factor.empty())
    return concat("size=", options_.size, ", mode='", name_of(options_, options_.size.rank()), "'");
  std::string factors;
  for (const double factor : options_.scale_factor) factors += (factors.empty() ? "" : ", ") + decimal(factor);
  if (options_.scale_factor.size() > 1) factors = "(" + factors + ")";
  const auto axes = static_cast<std::int64_t>(options_.scale_factor.size());
  return concat("scale_factor=", factors, ", mode='", name_of(options_, axes), "'");
}

Tensor PixelShuffle::forward(const Tensor& x) { return pixel_shuffle(x, factor_); }
std::string PixelShuffle::extra_repr() const { return concat("upscale_factor=", factor_); }

Tensor PixelUnshuffle::forward(const Tensor& x) { return pixel_unshuffle(x, factor_); }
std::string PixelUnshuffle::extra_repr() const { return concat("downscale_factor=", factor_); }

}  // namespace crisol::nn
