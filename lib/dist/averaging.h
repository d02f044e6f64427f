// What averages of gradients over all ranks have in common.
#pragma once

#include <vector>

#include "crisol/named_tensors.h"
#include "dist/session.h"

namespace crisol::dist {

/// The weights of all ranks, divided by their sum. Empty if all weights are equal. Throws if all are 0.
std::vector<float> normalised_weights(const char* op, const std::vector<double>& weights);

/// Throws on every rank, and names the parameter, if a parameter has a gradient on some ranks only. `present` tells
/// which parameters have one on this rank.
void require_same_gradients(const char* op, Session& session, const NamedTensors& parameters,
                            const std::vector<char>& present);

}  // namespace crisol::dist
