// Children of fork(). OpenCL's drivers have threads, and a child has only the thread that forked. So a child must not
// use a driver that its parent used: it would wait forever.
#pragma once

#include <atomic>

#include "base/text.h"

namespace crisol::system {

inline std::atomic<bool> in_forked_child{false};

/// From now on, calls a function in each child of fork(), before the child runs. The function may only store values.
void call_in_forked_child(void (*function)());

/// From now on, children of fork() are noticed. A child that calls exec is not noticed, and neither is a process of
/// posix_spawn. exit() in a noticed child writes the buffers of stdio and std::cout. It calls no handler from before
/// fork(), because handlers of Intel's CPU runtime wait for threads that the child does not have.
void notice_forks();

/// Whether this process is a forked child, and its parent had called notice_forks(). This is one load. In such a child,
/// the locks and the memory of the parent's other threads are in an unknown state, so destructors leave OpenCL's
/// objects alone.
inline bool forked() noexcept { return in_forked_child.load(std::memory_order_relaxed); }

/// Throws in such a child. Everything that reaches a device calls this before it takes a lock.
inline void check_not_forked() {
  if (forked()) [[unlikely]]
    fail(ErrorCode::device_failure, "fork",
         "this process is a child of fork(), and its parent had used OpenCL before: the threads of its drivers do not "
         "exist here. Call fork() before the first use of the library, or start another program (exec, posix_spawn, "
         "Python's \"spawn\")");
}

}  // namespace crisol::system
