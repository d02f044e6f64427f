#include "common/system.h"

#include <unistd.h>

namespace samples {

void use_utf8() {}

bool may_write(const std::string& path) { return access(path.c_str(), W_OK) == 0; }

std::FILE* take_standard_output() {
  std::fflush(stdout);
  std::FILE* before = fdopen(dup(STDOUT_FILENO), "w");
  return before != nullptr && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 ? before : nullptr;
}

}  // namespace samples
