// The C interface: resizing and sampling of images, compared with the C++ functions.
#include "c_api/handle.h"
#include "crisol/crisol.h"

using namespace crisol;
using namespace crisol::testing::c_api;

TEST_CASE("C: ops on images are the C++ functions") {
  manual_seed(7);
  const Tensor tx = randn({2, 4, 6, 5}), tw = randn({4, 3, 2, 2}), tgrid = rand({2, 3, 3, 2}) * 2 - 1;
  const auto same = [](const Handle& y, const Tensor& expected) {
    CHECK(sizes_of(y.get()) == std::vector<std::int64_t>(expected.shape().begin(), expected.shape().end()));
    CHECK(values_of(y.get()) == expected.to_vector<float>());
  };
  Handle x(tx.to_vector<float>(), {2, 4, 6, 5}), w(tw.to_vector<float>(), {4, 3, 2, 2}),
      grid(tgrid.to_vector<float>(), {2, 3, 3, 2}), y, z;
  const crisol_conv_transpose2d_options up{{2, 2}, {1, 0}, {1, 0}, {1, 1}, 2};
  OK(crisol_conv_transpose2d(x.get(), w.get(), nullptr, &up, y.place()));
  same(y, conv_transpose2d(tx, tw, Tensor(), {.stride = 2, .padding = {1, 0}, .output_padding = {1, 0}, .groups = 2}));
  const std::int64_t size[] = {9, 4};
  const double factor = 2;
  OK(crisol_interpolate(x.get(), 2, size, nullptr, CRISOL_INTERPOLATE_LINEAR, 1, 0, y.place()));
  same(y, interpolate(tx, {.size = {9, 4}, .mode = InterpolateMode::linear, .align_corners = true}));
  OK(crisol_interpolate(x.get(), 1, nullptr, &factor, CRISOL_INTERPOLATE_NEAREST, 0, 0, y.place()));
  same(y, interpolate(tx, {.scale_factor = {2}}));
  refused(crisol_interpolate(x.get(), 2, size, &factor, 0, 0, 0, y.place()), CRISOL_INVALID_ARGUMENT, {"scale_factor"});
  refused(crisol_interpolate(x.get(), 2, size, nullptr, 4, 0, 0, y.place()), CRISOL_INVALID_ARGUMENT,
          {"mode 4 is none"});
  OK(crisol_grid_sample(x.get(), grid.get(), CRISOL_GRID_BICUBIC, CRISOL_GRID_BORDER, 1, y.place()));
  same(y, grid_sample(tx, tgrid, {GridSampleMode::bicubic, GridSamplePadding::border, true}));
  Handle theta({1, 0, 0.5f, 0, 2, 0}, {1, 2, 3});
  const std::int64_t image[] = {1, 1, 3, 4};
  OK(crisol_affine_grid(theta.get(), image, 0, y.place()));
  same(y, affine_grid(from_vector<float>({1, 0, 0.5f, 0, 2, 0}, {1, 2, 3}), {1, 1, 3, 4}));
  const Tensor map = randn({1, 3, 4});
  const Handle of_volume(map.to_vector<float>(), {1, 3, 4});
  const int64_t volume[] = {1, 1, 2, 3, 4};
  OK(crisol_affine_grid(of_volume.get(), volume, 1, y.place()));
  same(y, affine_grid(map, {1, 1, 2, 3, 4}, true));
  OK(crisol_pixel_shuffle(x.get(), 2, y.place()));
  same(y, pixel_shuffle(tx, 2));
  OK(crisol_pixel_unshuffle(y.get(), 2, z.place()));
  same(z, tx);
  const crisol_pool2d_options pool = CRISOL_POOL2D_OPTIONS(2);
  OK(crisol_max_pool2d_with_indices(x.get(), &pool, y.place(), z.place()));
  const ExtremeResult best = max_pool2d_with_indices(tx, {2});
  same(y, best.values);
  CHECK(values_of<std::int64_t>(z.get()) == best.indices.to_vector<std::int64_t>());
  const crisol_conv2d_options plain = CRISOL_CONV2D_OPTIONS;
  const Tensor kernel = randn({3, 4, 2, 2}), offset = randn({2, 8, 5, 4});
  Handle k(kernel.to_vector<float>(), {3, 4, 2, 2}), o(offset.to_vector<float>(), {2, 8, 5, 4});
  OK(crisol_deform_conv2d(x.get(), o.get(), k.get(), nullptr, nullptr, &plain, y.place()));
  same(y, deform_conv2d(tx, offset, kernel));
}

TEST_CASE("C: boxes") {
  const Tensor tx = rand({1, 2, 6, 6}), tboxes = from_vector<float>({1, 1, 4, 5, 0, 2, 3, 3}, {2, 4});
  Handle x(tx.to_vector<float>(), {1, 2, 6, 6}), boxes(tboxes.to_vector<float>(), {2, 4}),
      images(std::vector<std::int64_t>{0, 0}), y;
  crisol_roi_align_options options = CRISOL_ROI_ALIGN_OPTIONS(2);
  OK(crisol_roi_align(x.get(), boxes.get(), images.get(), &options, y.place()));
  CHECK(values_of(y.get()) ==
        roi_align(tx, tboxes, zeros({2}, DType::i64), {.height = 2, .width = 2}).to_vector<float>());
  Handle corners({0, 0, 1, 1, 0, 0, 1, 1, 5, 5, 6, 6}, {1, 3, 4}), scores({0.5f, 0.6f, 0.4f}, {1, 1, 3});
  const crisol_non_max_suppression_options select{0.5, 0, 10, 0};
  OK(crisol_non_max_suppression(corners.get(), scores.get(), &select, y.place()));
  CHECK(values_of<std::int64_t>(y.get()) == std::vector<std::int64_t>{0, 0, 1, 0, 0, 2});
  refused(crisol_roi_align(x.get(), boxes.get(), images.get(), nullptr, y.place()), CRISOL_INVALID_ARGUMENT,
          {"options is null"});
}
