// Preloaded into one rank, it gives that rank another version of the library: see tests/dist/run.sh.
#include "crisol/version.h"

namespace crisol {

const char* version() noexcept { return "0.0.9"; }

}  // namespace crisol
