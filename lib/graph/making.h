// The state of a thread that makes a program.
#pragma once

#include "base/thread_context.h"

namespace crisol::graph {

/// While this object lives, the thread makes a program. Packed copies of weights are then worth keeping.
class Making {
 public:
  Making() { thread_context().program.is_made = true; }
  ~Making() { thread_context().program.is_made = false; }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
};

}  // namespace crisol::graph
