// The rules that a fuzzer checks. A broken rule ends the process, and libFuzzer reports the input.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "crisol/error.h"

namespace crisol::fuzz {

inline void expect(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "broken rule: %s\n", rule);
  std::abort();
}

/// Runs the call and returns whether it was refused. A refusal must be an Error with this code and a text that begins
/// "[op] ". Any other exception ends the process.
template <class Call>
bool refused(ErrorCode code, Call&& call) {
  try {
    call();
    return false;
  } catch (const Error& error) {
    if (error.code() != code) std::fprintf(stderr, "%s: %s\n", name_of(error.code()), error.what());
    expect(error.code() == code, "a refusal has the code of its kind");
    expect(error.what()[0] == '[', "a refusal begins with the op's name");
    return true;
  }
}

}  // namespace crisol::fuzz
