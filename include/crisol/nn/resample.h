// Layers that change the size of images.
#pragma once

#include "crisol/nn/module.h"
#include "crisol/options/vision.h"

namespace crisol::nn {

/// interpolate(x, options): `Upsample({.scale_factor = {2}, .mode = InterpolateMode::linear})` doubles both sizes.
class CRISOL_API Upsample : public Module {
 public:
  explicit Upsample(const InterpolateOptions& options) : options_(options) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The options.
  const InterpolateOptions& options() const noexcept { return options_; }

 private:
  InterpolateOptions options_;
};

/// pixel_shuffle(x, factor): (N, C · factor², H, W) becomes (N, C, H · factor, W · factor).
class CRISOL_API PixelShuffle : public Module {
 public:
  explicit PixelShuffle(std::int64_t factor) : factor_(factor) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The factor of the sizes.
  std::int64_t factor() const noexcept { return factor_; }

 private:
  std::int64_t factor_;
};

/// pixel_unshuffle(x, factor): (N, C, H · factor, W · factor) becomes (N, C · factor², H, W).
class CRISOL_API PixelUnshuffle : public Module {
 public:
  explicit PixelUnshuffle(std::int64_t factor) : factor_(factor) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
  /// The divisor of the sizes.
  std::int64_t factor() const noexcept { return factor_; }

 private:
  std::int64_t factor_;
};

}  // namespace crisol::nn
