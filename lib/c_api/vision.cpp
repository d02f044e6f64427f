// Resampling and rearranging images for C.
#include "crisol/functions/vision.h"
#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

namespace {

/// The enumerator with this number. There are `count` enumerators.
template <class Enum>
Enum enum_of(std::int32_t number, int count, const char* op, const char* name) {
  require(number >= 0 && number < count, op, name, ' ', number, " is none");
  return static_cast<Enum>(number);
}

}  // namespace

crisol_status crisol_interpolate(const crisol_tensor* x, int axis_count, const int64_t* size,
                                 const double* scale_factor, crisol_interpolate_mode mode, int align_corners,
                                 int antialias, crisol_tensor** result) {
  constexpr const char* op = "interpolate";
  return give_from(x, result, op, [&](const Tensor& t) {
    require((size != nullptr) != (scale_factor != nullptr), op, "size or scale_factor must be null, and not both");
    require(axis_count > 0 && axis_count <= Shape::max_rank, op, "axis_count is ", axis_count);
    InterpolateOptions options{.mode = enum_of<InterpolateMode>(mode, 4, op, "mode"),
                               .align_corners = align_corners != 0,
                               .antialias = antialias != 0};
    if (size != nullptr)
      options.size = shape_of(size, axis_count, op, "size");
    else
      options.scale_factor.assign(scale_factor, scale_factor + axis_count);
    return interpolate(t, options);
  });
}

crisol_status crisol_grid_sample(const crisol_tensor* x, const crisol_tensor* grid, crisol_grid_sample_mode mode,
                                 crisol_grid_sample_padding padding, int align_corners, crisol_tensor** result) {
  constexpr const char* op = "grid_sample";
  return give_from(x, result, op, [&](const Tensor& t) {
    return grid_sample(t, tensor_of(grid, op, "grid"),
                       {.mode = enum_of<GridSampleMode>(mode, 3, op, "mode"),
                        .padding_mode = enum_of<GridSamplePadding>(padding, 3, op, "padding"),
                        .align_corners = align_corners != 0});
  });
}

crisol_status crisol_affine_grid(const crisol_tensor* theta, const int64_t* size, int align_corners,
                                 crisol_tensor** result) {
  return give_from(theta, result, "affine_grid", [&](const Tensor& t) {
    const bool is_of_volumes = t.dim() == 3 && t.size(1) == 3;
    return affine_grid(t, shape_of(size, is_of_volumes ? 5 : 4, "affine_grid", "size"), align_corners != 0);
  });
}

crisol_status crisol_pixel_shuffle(const crisol_tensor* x, int64_t factor, crisol_tensor** result) {
  return give_from(x, result, "pixel_shuffle", [&](const Tensor& t) { return pixel_shuffle(t, factor); });
}

crisol_status crisol_pixel_unshuffle(const crisol_tensor* x, int64_t factor, crisol_tensor** result) {
  return give_from(x, result, "pixel_unshuffle", [&](const Tensor& t) { return pixel_unshuffle(t, factor); });
}

crisol_status crisol_roi_align(const crisol_tensor* x, const crisol_tensor* boxes, const crisol_tensor* images,
                               const crisol_roi_align_options* options, crisol_tensor** result) {
  constexpr const char* op = "roi_align";
  return give_from(x, result, op, [&](const Tensor& t) {
    const crisol_roi_align_options& o = need(options, op, "options");
    return roi_align(t, tensor_of(boxes, op, "boxes"), tensor_of(images, op, "images"),
                     {o.height, o.width, o.spatial_scale, o.sampling_ratio, o.aligned != 0, o.maximum != 0});
  });
}

crisol_status crisol_non_max_suppression(const crisol_tensor* boxes, const crisol_tensor* scores,
                                         const crisol_non_max_suppression_options* options, crisol_tensor** result) {
  constexpr const char* op = "non_max_suppression";
  return give_from(boxes, result, op, [&](const Tensor& t) {
    const crisol_non_max_suppression_options& o = need(options, op, "options");
    return non_max_suppression(t, tensor_of(scores, op, "scores"),
                               {o.iou_threshold, o.score_threshold, o.max_per_class, o.centered != 0});
  });
}
