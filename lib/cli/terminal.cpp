#include "cli/terminal.h"

#include <cstdlib>
#ifndef _WIN32
#include <unistd.h>
#endif

namespace crisol::cli {

namespace {

bool is_styled() {
#ifdef _WIN32
  return false;
#else
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) == 1;
#endif
}

}  // namespace

std::string bold(const std::string& text) { return is_styled() ? "\033[1m" + text + "\033[0m" : text; }

}  // namespace crisol::cli
