// Which release this is.
#pragma once

#include "crisol/export.h"

namespace crisol {

/// "MAJOR.MINOR.PATCH" of the library that runs, which need not be the one whose headers were compiled. Before 1.0 a
/// new MINOR may change interfaces, and the soname carries it.
CRISOL_API const char* version() noexcept;

}  // namespace crisol
