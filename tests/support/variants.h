// Every variant of an op that takes a problem here.
#pragma once

#include <initializer_list>
#include <string>

#include "doctest/doctest.h"
#include "support/forced.h"

namespace crisol::testing {

/// Runs body() under each variant in turn; one that refuses, with the error that says so, is passed over. At least one
/// must run.
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
