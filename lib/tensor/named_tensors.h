// Loading a state: the tensors given against those that are wanted.
#pragma once

#include <map>
#include <string>

#include "crisol/named_tensors.h"

namespace crisol {

/// The given tensors by name. Throws invalid_argument, "[op] …", with every name that is missing, given twice,
/// unexpected or undefined, or whose shape or dtype is another than in `own`.
std::map<std::string, Tensor> match_state(const char* op, const NamedTensors& own, const NamedTensors& given);

}  // namespace crisol
