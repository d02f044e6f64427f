// MPI, with return codes turned into Error.
#pragma once

#include <mpi.h>

#include <string>

#include "base/text.h"

namespace crisol::dist {

/// Throws Error (io) unless `code` is MPI_SUCCESS.
inline void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  crisol::fail(ErrorCode::io, call, text);
}

}  // namespace crisol::dist
