// Programs of ops on small tensors, made from bytes. Shapes, strides, dtypes and arguments are valid or invalid, and
// results are compared with the host references.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crisol::fuzz {

/// Runs the program that the bytes describe. Throws std::runtime_error with all steps if a result is wrong, an invalid
/// call is accepted, or a valid call is refused.
void run_op_program(const std::uint8_t* bytes, std::size_t count);

}  // namespace crisol::fuzz
