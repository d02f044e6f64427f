// ONNX Runtime's functions as the plugin calls them.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "interface.h"

namespace crisol::ort {

/// The functions of functions.def by name.
struct Functions {
#define ORT_FUNCTION(position, name, result, parameters) result(*name) parameters;
#include "functions.def"
#undef ORT_FUNCTION
};

/// Takes the functions from the runtime that loads the plugin. Returns a failure if its version is older than 1.23.
OrtStatus* set_api(const OrtApiBase& base);
/// The functions. set_api() was called before.
const Functions& api() noexcept;
/// Whether the runtime can compute a part of a graph by the provider and another part by itself. Version 1.23 cannot:
/// it asks each provider but its own for kernels that copy, and takes none from plugins.
bool can_share_graphs() noexcept;
/// Whether a set of nodes gets the values that only the graphs within its nodes use. Older versions do not give them.
bool gives_values_of_inner_graphs() noexcept;
/// Whether sets of nodes in several graphs of a session get names that differ. Version 1.24 gives one name to all, and
/// then makes no session. Version 1.31 is the oldest one that was tried.
bool names_sets_of_inner_graphs() noexcept;

/// A failure that ONNX Runtime reported.
struct RuntimeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws RuntimeError if a call failed.
void check(OrtStatus* status);

/// Calls work(), and turns exceptions into a status that ONNX Runtime reports.
template <class Work>
OrtStatus* guarded(const Work& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (const std::exception& error) {
    return api().CreateStatus(code_provider_failed, error.what());
  }
}

/// What a function with an `out` parameter gives.
template <class T, class... Parameters, class... Arguments>
T get(OrtStatus* (*function)(Parameters...), Arguments... arguments) {
  T value{};
  check(function(arguments..., &value));
  return value;
}

/// The list that a function for the number and a function for the elements give.
template <class T, class Owner>
std::vector<const T*> list(OrtStatus* (*count)(const Owner*, std::size_t*),
                           OrtStatus* (*elements)(const Owner*, const T**, std::size_t), const Owner* owner) {
  std::vector<const T*> all(get<std::size_t>(count, owner));
  check(elements(owner, all.data(), all.size()));
  return all;
}

/// A logger of ONNX Runtime.
class Logger {
 public:
  explicit Logger(const OrtLogger* logger) : logger_(logger) {}
  /// Whether messages of this level are shown.
  bool shows(int level) const;
  void log(int level, const std::string& text) const;

 private:
  const OrtLogger* logger_;
};

}  // namespace crisol::ort
