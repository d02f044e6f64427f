// Resizing and sampling of images.
#include "functions/traced/traced.h"

namespace crisol::traced {

namespace {

using Numbers = std::vector<std::int64_t>;

}  // namespace

void resample(Trace& trace, const Tensor& x, int axis, const ops::AxisWeights& w, const Tensor& y) {
  trace.note(Op::resample, {x}, y,
             {{"axis", axis},
              {"size", w.size},
              {"starts", Numbers(w.starts.begin(), w.starts.end())},
              {"indices", Numbers(w.indices.begin(), w.indices.end())},
              {"weights", w.weights}});
}

void enlarge(Trace& trace, const Tensor& x, std::int64_t down, std::int64_t across, const Tensor& y) {
  trace.note(Op::enlarge, {x}, y, {{"down", down}, {"across", across}});
}

void interpolate(Trace& trace, const Tensor& x, const InterpolateOptions& o, const Tensor& y) {
  trace.note(Op::interpolate, {x}, y,
             {{"size", Numbers(o.size.begin(), o.size.end())},
              {"scale_factor", o.scale_factor},
              {"mode", static_cast<std::int64_t>(o.mode)},
              {"align_corners", o.align_corners ? 1 : 0},
              {"antialias", o.antialias ? 1 : 0}});
}

void grid_sample(Trace& trace, const Tensor& x, const Tensor& grid, const GridSampleOptions& o, const Tensor& y) {
  trace.note(Op::grid_sample, {x, grid}, y,
             {{"mode", static_cast<std::int64_t>(o.mode)},
              {"padding_mode", static_cast<std::int64_t>(o.padding_mode)},
              {"align_corners", o.align_corners ? 1 : 0},
              {"in_elements", o.in_elements ? 1 : 0}});
}

}  // namespace crisol::traced
