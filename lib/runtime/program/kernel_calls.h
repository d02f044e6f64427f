// Rewrites the text of CPU kernels so that PoCL compiles them faster.
#pragma once

#include <string>

namespace crisol::runtime {

/// Moves the code of kernels to functions that are not inlined, which the kernels call. PoCL 3.1 makes three functions
/// of a kernel, each with a copy of the kernel's code. It compiles all three functions, although only one of them runs.
/// This is most of the time of a kernel's first run.
///
/// The text of a moved kernel begins with CPU_KERNEL, VECTOR_KERNEL or STEP_KERNEL, then `void name(…) {`. A kernel
/// that begins with EACH_ROW_KERNEL is moved if the first lines define VW as more than 1, because others may have local
/// memory.
///
/// The code may call get_global_id and get_global_size. Their results become parameters of the function. Functions that
/// the code calls must not call these two, because PoCL would then copy the code again. If the list of parameters has a
/// macro X_PARAMETERS, the macro X_ARGUMENTS holds the names of these parameters.
std::string with_calls_of_kernels(const std::string& source);

}  // namespace crisol::runtime
