// Runs every variant of an op that accepts a problem on this device.
#pragma once

#include <initializer_list>
#include <string>

#include "doctest/doctest.h"
#include "support/forced.h"

namespace crisol::testing {

/// Runs body() with each variant in turn. A variant that refuses, with an error that says so, is passed over. At least
/// one must run.
template <class Body>
void for_each_variant(const char* op, std::initializer_list<const char*> names, Body body) {
  int ran = 0;
  for (const char* name : names) {
    INFO("variant " << std::string(name));
    if (run_variant(op, name, body)) ++ran;
  }
  CHECK(ran > 0);
}

}  // namespace crisol::testing
