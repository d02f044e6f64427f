// Programs of ops on small tensors, made from bytes: shapes, strides, dtypes and arguments, good and bad, against the
// host references.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crisol::fuzz {

/// Runs the program that the bytes describe. Throws std::runtime_error with all its steps where a result is wrong, a
/// wrong call is accepted or a right one refused.
void run_op_program(const std::uint8_t* bytes, std::size_t count);

}  // namespace crisol::fuzz
