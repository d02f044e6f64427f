// Loading a state: matches the given tensors with the wanted tensors.
#pragma once

#include <map>
#include <string>

#include "crisol/named_tensors.h"

namespace crisol {

/// The given tensors by name. Throws invalid_argument, "[op] …". The text lists every name that is missing, given
/// twice, unexpected or undefined, and every tensor whose shape or dtype differs from `own`.
std::map<std::string, Tensor> match_state(const char* op, const NamedTensors& own, const NamedTensors& given);

}  // namespace crisol
