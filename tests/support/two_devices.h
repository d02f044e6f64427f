// Tests that need two devices: PoCL shows them if its variable POCL_DEVICES names two.
#pragma once

#include <string>

#include "support/skip.h"

namespace crisol::testing {

/// Why no child shows two devices. Empty if a child shows them.
std::string why_one_device();

}  // namespace crisol::testing

/// Skips the test case if no child shows two devices.
#define NEEDS_TWO_DEVICES()                                                                          \
  do {                                                                                               \
    if (const std::string why = ::crisol::testing::why_one_device(); !why.empty()) CRISOL_SKIP(why); \
  } while (false)
