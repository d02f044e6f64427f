// Layers that change sizes: Upsample, PixelShuffle, PixelUnshuffle and Unflatten.
#include "crisol/nn/resample.h"

#include "crisol/functions/vision.h"
#include "crisol/nn/flatten.h"
#include "doctest/doctest.h"
#include "support/compare.h"
#include "support/random_tensor.h"

using namespace crisol;
using namespace crisol::testing;

TEST_CASE("Upsample, PixelShuffle and PixelUnshuffle compute their functions") {
  const Tensor x = random_tensor(1, {2, 4, 2, 3});
  const InterpolateOptions linear{.scale_factor = {2}, .mode = InterpolateMode::linear};
  check_close(nn::Upsample(linear)(x), {2, 4, 4, 6}, values_of(interpolate(x, linear)), {0});
  check_close(nn::PixelShuffle(2)(x), {2, 1, 4, 6}, values_of(pixel_shuffle(x, 2)), {0});
  check_close(nn::PixelUnshuffle(2)(nn::PixelShuffle(2)(x)), {2, 4, 2, 3}, values_of(x), {0});
  CHECK(nn::Upsample({.size = {4, 6}, .mode = InterpolateMode::cubic}).extra_repr() == "size=(4, 6), mode='bicubic'");
  CHECK(nn::Upsample({.scale_factor = {2, 1.5}}).extra_repr() == "scale_factor=(2.0, 1.5), mode='nearest'");
  CHECK(nn::PixelShuffle(2).extra_repr() == "upscale_factor=2");
  check_error([&] { nn::PixelShuffle(3)(x); }, {"[pixel_shuffle]", "3"});
}

TEST_CASE("Unflatten divides an axis and copies nothing") {
  const Tensor x = random_tensor(1, {2, 6, 5});
  nn::Unflatten layer(1, {2, -1});
  CHECK(layer(x).shape() == Shape{2, 2, 3, 5});
  CHECK(layer(x).shares_storage_with(x));
  CHECK(nn::Unflatten(-1, {5, 1})(x).shape() == Shape{2, 6, 5, 1});
  CHECK(layer.extra_repr() == "dim=1, unflattened_size=(2, -1)");
  check_error([&] { nn::Unflatten(1, {4, -1})(x); }, {"(2, 4, -1, 5)"});
  check_error([&] { nn::Unflatten(3, {1})(x); }, {"[Unflatten]", "3"});
}
