// Reads the attributes of layers' nodes.
#pragma once

#include "crisol/options/vision.h"
#include "graph/graph.h"
#include "ops/vision/resample.h"

namespace crisol::graph {

/// The options of a node of interpolate().
InterpolateOptions interpolation_of(const Node& node);
/// The sums that a node of the op resample computes.
ops::AxisWeights axis_weights_of(const Node& node);

}  // namespace crisol::graph
