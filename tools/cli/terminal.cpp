#include "cli/terminal.h"

namespace crisol::cli {

std::string bold(const std::string& text) { return is_styled() ? "\033[1m" + text + "\033[0m" : text; }

}  // namespace crisol::cli
