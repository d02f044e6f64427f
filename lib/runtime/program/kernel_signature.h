// The parameters of a kernel, read from its source. Some drivers do not give them (CL_KERNEL_ARG_INFO), especially for
// programs from the disk cache.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace crisol::runtime {

/// For example `__global const float4* x` has the type "float" and 4 lanes, and is a pointer that is only read.
struct KernelParameter {
  std::string name;
  std::string declaration;  ///< The text of the source, without comments.
  std::string type;         ///< The type of one element, without qualifiers: "float", "uchar".
  int lanes = 1;
  bool pointer = false;
  bool written = false;         ///< Whether it is a pointer to elements that are not const.
  std::string address_space{};  ///< For a pointer: "__global" or "__constant".
};

using KernelDefines = std::vector<std::pair<std::string, std::string>>;

struct KernelSignature {
  std::vector<KernelParameter> parameters;
  /// The source in which two parameters replace each pointer: the buffer and the position of the first element. The
  /// lines keep their numbers.
  std::string source;
};

/// Reads the kernel `name`. `defines` are known in addition to the `#define NAME TYPE` lines of the source. Throws
/// invalid_argument, with `op`, if there is not exactly one such kernel, or if a parameter cannot be passed.
KernelSignature read_signature(const char* op, const std::string& source, const std::string& name,
                               const KernelDefines& defines);

}  // namespace crisol::runtime
