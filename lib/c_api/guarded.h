// Guards that every C function puts around exceptions and pointers, also in libraries on top of this one.
#pragma once

#include "base/text.h"
#include "crisol/c/interop.h"

namespace crisol::c_api {

/// Runs the body. Turns an exception into a status.
template <class Body>
crisol_status guarded(const Body& body) noexcept {
  try {
    body();
    return CRISOL_OK;
  } catch (...) {
    return c::status_of_exception();
  }
}

/// Dereferences a pointer. Throws for null, with the argument's name.
template <class T>
T& need(T* pointer, const char* op, const char* name) {
  require(pointer != nullptr, op, name, " is null");
  return *pointer;
}

}  // namespace crisol::c_api
