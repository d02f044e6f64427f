#include "crisol/error.h"

namespace crisol {

Error::~Error() = default;

OutOfRange::~OutOfRange() = default;

const char* name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::device_not_found: return "device not found";
    case ErrorCode::build_failure: return "build failure";
    case ErrorCode::out_of_memory: return "out of memory";
    case ErrorCode::device_failure: return "device failure";
    case ErrorCode::io: return "io";
  }
  return "unknown";
}

}  // namespace crisol
