// The text of CPU kernels as PoCL compiles it fastest.
#pragma once

#include <string>

namespace crisol::runtime {

/// Moves the code of kernels to functions that are not inlined, which the kernels call. PoCL 3.1 makes three functions
/// of a kernel and copies the kernel's code into each. Then it compiles all three, although only one runs. This takes
/// most of the time of a kernel's first run.
///
/// A kernel is moved if its text begins with one of these words, then `void name(…) {`:
///   CPU_KERNEL, VECTOR_KERNEL, STEP_KERNEL
///   EACH_ROW_KERNEL   if the first lines define VW as more than 1, because others may have local memory
/// The code may call get_global_id and get_global_size, which become parameters there. A function that the code calls
/// must not call them, or PoCL copies the code as before. A macro X_PARAMETERS in the list of parameters needs a macro
/// X_ARGUMENTS with the names of these parameters.
std::string with_calls_of_kernels(const std::string& source);

}  // namespace crisol::runtime
