#include "cli/apart.h"

std::string& crisol::cli::trace_file() {
  static std::string file;
  return file;
}
