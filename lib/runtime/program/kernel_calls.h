// The text of CPU kernels as PoCL compiles it fastest.
#pragma once

#include <string>

namespace crisol::runtime {

/// Moves the code of kernels to functions that are not inlined, which the kernels call. PoCL 3.1 makes three functions
/// of a kernel and copies the kernel's code into each. Then it compiles all three, although only one runs. This takes
/// most of the time of a kernel's first run.
///
/// The text of a moved kernel begins with CPU_KERNEL, VECTOR_KERNEL or STEP_KERNEL, then `void name(…) {`. A kernel
/// that begins with EACH_ROW_KERNEL is moved if the first lines define VW as more than 1, because others may have local
/// memory.
///
/// The code may call get_global_id and get_global_size. They become parameters of the function. Functions that the code
/// calls must not call them, or PoCL copies the code as before. A macro X_PARAMETERS in the list of parameters comes
/// with a macro X_ARGUMENTS, which lists their names.
std::string with_calls_of_kernels(const std::string& source);

}  // namespace crisol::runtime
