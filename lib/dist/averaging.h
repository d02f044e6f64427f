// The common parts of averages of gradients over all ranks.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "crisol/named_tensors.h"
#include "dist/session.h"

namespace crisol::dist {

/// The weights of all ranks, divided by their sum. Empty if all weights are equal. Throws on every rank if all weights
/// are 0, or if the ranks are in different passes.
std::vector<float> gather_weights(const char* op, Link& link, std::int64_t pass, double own);

/// The text of an exception.
std::string text_of(const std::exception_ptr& error);

/// Throws on every rank if a parameter has a gradient on some ranks only, and names this parameter. `present` says
/// which parameters have a gradient on this rank.
void require_same_gradients(const char* op, Session& session, const NamedTensors& parameters,
                            const std::vector<char>& present);

}  // namespace crisol::dist
