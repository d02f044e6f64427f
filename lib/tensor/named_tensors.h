// States: whole numbers as tensors, and comparison of given tensors with the expected ones.
#pragma once

#include <map>
#include <string>

#include "crisol/named_tensors.h"

namespace crisol {

/// A scalar of i64.
Tensor whole_number(std::int64_t value, Device device = Device());

/// The given tensors by name. Throws invalid_argument, "[op] …". The message lists every name that is missing,
/// unexpected, undefined or given twice, and every tensor whose shape or dtype differs from `own`.
std::map<std::string, Tensor> match_state(const char* op, const NamedTensors& own, const NamedTensors& given);

}  // namespace crisol
