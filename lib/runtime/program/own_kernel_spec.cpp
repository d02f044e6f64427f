#include "runtime/program/own_kernel_spec.h"

#include <algorithm>

namespace crisol::runtime {

// The structured binding names every member. So a new member cannot be forgotten here.
OwnKernelSpec::OwnKernelSpec(const KernelSpec& spec) {
  const auto& [source, entry, defines, prelude, options, title, exact_division] = spec;
  source_ = source;
  entry_ = entry;
  for (const Define& define : defines)
    defines_.push_back({std::string(define.name), std::string(define.text), define.number});
  prelude_ = prelude;
  options_ = options;
  title_ = title;
  exact_division_ = exact_division;
}

KernelSpec OwnKernelSpec::view() const {
  KernelSpec spec{source_, entry_, {}, prelude_, options_, title_, exact_division_};
  for (const OwnDefine& own : defines_) {
    Define define(own.name, std::string_view(own.text));
    define.number = own.number;
    spec.defines.add(define);
  }
  return spec;
}

bool OwnKernelSpec::matches(const KernelSpec& spec) const noexcept {
  const auto& [source, entry, defines, prelude, options, title, exact_division] = spec;
  return source_ == source && entry_ == entry && prelude_ == prelude && options_ == options &&
         exact_division_ == exact_division &&
         std::equal(defines_.begin(), defines_.end(), defines.begin(), defines.end(),
                    [](const OwnDefine& own, const Define& other) {
                      return own.name == other.name && own.text == other.text && own.number == other.number;
                    });
}

}  // namespace crisol::runtime
