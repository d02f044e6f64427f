// Boxes that a network detects in images.
#include <algorithm>

#include "base/text.h"
#include "crisol/functions/vision.h"
#include "onnx/ops/axes.h"
#include "onnx/ops/table.h"

namespace crisol::onnx {

namespace {

using graph::Data;
using graph::Run;

Run non_max_suppression_(Call& call) {
  call.check_counts(2, 5);
  call.gives(0, value_of(DType::i64));
  const bool centered = call.integer("center_point_box", 0) != 0;
  return [=](const Data& in, Device device) {
    const auto real = [&](std::size_t i, double otherwise) {
      const std::vector<double> numbers = has_input(in, i) ? reals_of(in[i], device) : std::vector<double>();
      return numbers.empty() ? otherwise : numbers[0];
    };
    const NonMaxSuppressionOptions defaults;
    const NonMaxSuppressionOptions options{
        .iou_threshold = real(3, 0),
        .score_threshold = real(4, defaults.score_threshold),
        .max_per_class =
            has_input(in, 2) ? std::max<std::int64_t>(number_of(in[2], "max_output_boxes_per_class"), 0) : 0,
        .centered = centered};
    return Data{non_max_suppression(in[0].tensor(device), in[1].tensor(device), options)};
  };
}

Run roi_align_(Call& call) {
  call.check_counts(3, 3);
  call.gives_type_of(0);
  RoiAlignOptions options;
  options.maximum = call.text_of("mode", {"avg", "max"}) == "max";
  options.height = call.integer("output_height", 1);
  options.width = call.integer("output_width", 1);
  options.sampling_ratio = call.integer("sampling_ratio", 0);
  options.spatial_scale = call.real("spatial_scale", 1);
  options.aligned = call.version() >= 16 &&
                    call.text_of("coordinate_transformation_mode", {"half_pixel", "output_half_pixel"}) == "half_pixel";
  return [=](const Data& in, Device device) {
    return Data{roi_align(in[0].tensor(device), in[1].tensor(device), in[2].tensor(device).to(DType::i64), options)};
  };
}

}  // namespace

std::vector<Row> detection_rows() {
  constexpr std::int64_t newest = newest_version;
  return {
      {"NonMaxSuppression", 10, newest, non_max_suppression_},
      {"RoiAlign", 10, newest, roi_align_},
  };
}

}  // namespace crisol::onnx
