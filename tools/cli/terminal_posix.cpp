#include <unistd.h>

#include <cstdlib>

#include "cli/terminal.h"

namespace crisol::cli {

void prepare_terminal() {}

bool is_styled() {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) == 1;
}

}  // namespace crisol::cli
