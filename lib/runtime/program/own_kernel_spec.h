// A copy of a KernelSpec that can be kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/launch.h"

namespace crisol::runtime {

/// A KernelSpec that owns its texts.
class OwnKernelSpec {
 public:
  explicit OwnKernelSpec(const KernelSpec& spec);

  /// The spec. It refers to the texts of this object.
  KernelSpec view() const;

  /// Whether both are the same kernel. The titles may differ.
  bool matches(const KernelSpec& spec) const noexcept;

 private:
  struct OwnDefine {
    std::string name, text;
    std::int64_t number;
  };

  std::string source_, entry_;
  std::vector<OwnDefine> defines_;
  std::string prelude_, options_, title_;
  bool exact_division_;
};

}  // namespace crisol::runtime
