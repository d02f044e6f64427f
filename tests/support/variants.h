// Every variant of an op that takes a problem here.
#pragma once

#include <initializer_list>
#include <string>

#include "crisol/error.h"
#include "doctest/doctest.h"
#include "ops/variant.h"

namespace crisol::testing {

/// Runs body() under each variant in turn; one that refuses, with the error that says so, is passed over. At least one
/// must run.
template <class Body>
void for_each_variant(const char* op, std::initializer_list<const char*> names, Body body) {
  int ran = 0;
  for (const char* name : names) {
    const ops::ForcedVariant forced(op, name);
    INFO("variant " << std::string(name));
    try {
      body();
      ++ran;
    } catch (const Error& error) {
      const std::string text = error.what();
      const bool refused = text.find("is forced, but") != text.npos && text.find("no such variant") == text.npos;
      CHECK_MESSAGE(refused, text);
    }
  }
  CHECK(ran > 0);
}

}  // namespace crisol::testing
