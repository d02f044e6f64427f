// Notices a rank that is gone although mpirun did not notice: a machine without power, a broken network.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "dist/mpi.h"

namespace crisol::dist {

/// Each rank sends a byte to the next rank once a second, and expects one from the rank before it.
class Heartbeat {
 public:
  /// Calls `silent` with the number of the rank before and the seconds since it was heard. `limit` is in seconds;
  /// 0: never.
  Heartbeat(MPI_Comm comm, int limit, std::function<void(int rank, int seconds)> silent);

  /// Called several times a second.
  void beat();
  /// After the last beat of all ranks.
  void stop();

 private:
  void send();
  bool receive();

  MPI_Comm comm_;
  const int limit_;
  const std::function<void(int, int)> silent_;
  int next_ = 0, before_ = 0;
  bool alone_ = true;
  char sent_ = 0, received_ = 0;
  MPI_Request sending_ = MPI_REQUEST_NULL, receiving_ = MPI_REQUEST_NULL;
  std::chrono::steady_clock::time_point looked_, sent_at_;
  /// Own seconds without a byte. They stop while this process is stopped. So a run that is suspended as a whole can go
  /// on.
  int silence_ = 0;
};

}  // namespace crisol::dist
