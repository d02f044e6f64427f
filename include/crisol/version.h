// Which release this is.
#pragma once

#include "crisol/export.h"

namespace crisol {

/// "MAJOR.MINOR.PATCH" of the library that runs. The program may have been compiled with another version's headers.
/// Before 1.0 a new MINOR may change interfaces, and is a part of the soname.
CRISOL_API const char* version() noexcept;

}  // namespace crisol
