// The exceptions of the library.
#pragma once

#include <stdexcept>
#include <string>

#include "crisol/export.h"

namespace crisol {

/// The kind of an error, for programs. The text of the exception explains the error to people.
enum class ErrorCode {
  invalid_argument,  ///< An argument breaks a rule of the op. Nothing was changed.
  device_not_found,  ///< No device matches, there is no OpenCL platform, or the device has no compiler.
  build_failure,     ///< The device's compiler refused a kernel. The text contains log and source.
  out_of_memory,     ///< Device memory is exhausted even after the pool was emptied.
  device_failure,    ///< An OpenCL call failed for another reason.
  io,                ///< A file is missing, unreadable, damaged or hostile.
};

/// Short lower-case name of a code, such as "invalid argument".
CRISOL_API const char* name_of(ErrorCode code) noexcept;

/// Thrown by every function of the library that fails. The text reads `[conv2d] weight has 3 input channels per group,
/// input has 4 channels / 1 group`: op, rule, values. All arguments are checked before any work is queued, so a failed
/// call leaves every tensor unchanged.
class CRISOL_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override;  // The key function of the class: all shared libraries see one type.

  /// The kind of the error.
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// An invalid_argument: a position or an axis that does not exist.
class CRISOL_API OutOfRange : public Error {
 public:
  explicit OutOfRange(const std::string& text) : Error(ErrorCode::invalid_argument, text) {}
  OutOfRange(const OutOfRange&) = default;
  OutOfRange& operator=(const OutOfRange&) = default;
  ~OutOfRange() override;
};

}  // namespace crisol
