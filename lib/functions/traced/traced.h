// Notes the library's functions as nodes of a graph, for a trace (tensor/trace.h). A function that is one node with
// plain attributes notes itself. Other functions call the functions below, with their arguments and their results.
#pragma once

#include <span>
#include <vector>

#include "crisol/functions/rnn.h"
#include "crisol/options/conv.h"
#include "crisol/options/norm.h"
#include "crisol/options/pad.h"
#include "crisol/options/pool.h"
#include "crisol/options/vision.h"
#include "ops/pointwise/pointwise_row.h"
#include "ops/vision/resample.h"
#include "tensor/trace.h"

namespace crisol::traced {

using Value = Trace::Value;
using Op = GraphOp;

/// The value, converted to another dtype.
Value cast(Trace& trace, Value x, DType from, DType to);

/// A function of single elements, of values of one dtype.
inline Value elements(Trace& trace, const ops::PointwiseRow& row, std::vector<Value> values) {
  return trace.node(op_of_row(row.name), std::move(values), {{"row", &row}});
}

void reshape(Trace& trace, const Tensor& x, const Tensor& y);
/// y is x with its axes in this order.
void permute(Trace& trace, const Tensor& x, const Shape& axes, const Tensor& y);
void transpose(Trace& trace, const Tensor& x, int axis_a, int axis_b, const Tensor& y);
void narrow(Trace& trace, const Tensor& x, int axis, std::int64_t start, std::int64_t length, const Tensor& y);
void expand(Trace& trace, const Tensor& x, const Tensor& y);
void to(Trace& trace, const Tensor& x, const Tensor& y);
void flip(Trace& trace, const Tensor& x, const Shape& axes, const Tensor& y);
/// A part of a tensor. `size` holds the sizes of the part.
struct Part {
  Shape axes, first, step, size;
  Shape dropped;  ///< Axes of x that y does not have.
  Shape added;    ///< Axes of y that x does not have.
};
void part(Trace& trace, const Tensor& x, const Part& part, const Tensor& y);
void stack(Trace& trace, const std::vector<Tensor>& tensors, int axis, const Tensor& y);
void cat(Trace& trace, const std::vector<Tensor>& tensors, int axis, const Tensor& y);
void split(Trace& trace, const Tensor& x, const std::vector<std::int64_t>& sizes, int axis,
           const std::vector<Tensor>& pieces);
void pad(Trace& trace, const Tensor& x, const std::vector<AxisPadding>& paddings, double value, const Tensor& y);
/// At the positions of an index, elements of src replace the elements, or are combined with them.
void scatter(Trace& trace, const Tensor& x, int axis, const Tensor& index, const Tensor& src, const char* reduction,
             const Tensor& y);
/// The same for slices along the axis.
void index_copy(Trace& trace, const Tensor& x, int axis, const Tensor& index, const Tensor& src, const char* reduction,
                const Tensor& y);
void one_hot(Trace& trace, const Tensor& indices, std::int64_t num_classes, const Tensor& y);

/// conv, or conv_transpose if the options have an output padding. `Options` are the options of conv1d to
/// conv_transpose3d.
template <class Options>
void conv(Trace& trace, const Tensor& x, const Tensor& weight, const Tensor& bias, const Options& options,
          const Tensor& y);
void linear(Trace& trace, const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& y);
void batch_norm(Trace& trace, const Tensor& x, const std::vector<Tensor>& of_channels, double epsilon, const Tensor& y);
void layer_norm(Trace& trace, const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                double epsilon, const Tensor& y);
/// instance_norm or group_norm.
void norm_of_channels(Trace& trace, Op op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const Trace::Attributes& attributes, const Tensor& y);
void max_pool(Trace& trace, const Tensor& x, const MaxPool2dOptions& options, const Tensor& y);
void max_pool(Trace& trace, const Tensor& x, const MaxPool3dOptions& options, const Tensor& y);
void avg_pool(Trace& trace, const Tensor& x, const AvgPool2dOptions& options, const Tensor& y);
void avg_pool(Trace& trace, const Tensor& x, const AvgPool3dOptions& options, const Tensor& y);
void adaptive_avg_pool(Trace& trace, const Tensor& x, const Tensor& y);
void rnn(Trace& trace, const RnnInput& input, const RnnWeights& weights, const RnnOptions& options,
         const RnnOutput& output);

/// Weighted sums along an axis, as ops::resample computes them.
void resample(Trace& trace, const Tensor& x, int axis, const ops::AxisWeights& weights, const Tensor& y);
/// Repeats each element along the last two axes.
void enlarge(Trace& trace, const Tensor& x, std::int64_t down, std::int64_t across, const Tensor& y);
/// interpolate() in the modes linear and cubic.
void interpolate(Trace& trace, const Tensor& x, const InterpolateOptions& options, const Tensor& y);
void grid_sample(Trace& trace, const Tensor& x, const Tensor& grid, const GridSampleOptions& options, const Tensor& y);

/// A reduction over axes. No axes means all axes. The elements are first converted to the dtype of y.
void reduce(Trace& trace, Op op, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y);
/// argmax or argmin.
void extreme_place(Trace& trace, Op op, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y);
/// The functions any, or all if `every`.
void truth(Trace& trace, bool every, const Tensor& x, const Shape& axes, bool keepdim, const Tensor& y);
/// The variance or, with `root`, its square root.
void variance(Trace& trace, const Tensor& x, const Shape& axes, bool keepdim, double correction, bool root,
              const Tensor& y);

/// A function of single elements. The inputs get the dtype of the computation first. The attribute "row" is the row,
/// and its numbers are attributes under their names.
void pointwise(Trace& trace, const ops::PointwiseRow& row, std::span<const Operand> inputs,
               std::span<const Scalar> scalars, const Tensor& y);

}  // namespace crisol::traced
