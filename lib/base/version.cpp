#include "crisol/version.h"

namespace crisol {

const char* version() noexcept { return CRISOL_VERSION; }

}  // namespace crisol
