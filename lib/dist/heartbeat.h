// Notices that a rank is gone when mpirun does not notice: a machine without power, a broken network.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "dist/mpi.h"

namespace crisol::dist {

/// Each rank sends a byte to the next rank once a second, and expects one from the rank before it.
class Heartbeat {
 public:
  /// Calls `silent` with the number of the rank before, and the seconds since its last byte, after `limit` seconds.
  /// With limit 0, it never calls `silent`.
  Heartbeat(MPI_Comm comm, int limit, std::function<void(int rank, int seconds)> silent);

  /// Call it several times a second.
  void beat();
  /// Call it after the last beat of all ranks.
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
  /// Seconds without a byte, counted only while this process runs. So a run that was suspended as a whole can go
  /// on.
  int silence_ = 0;
};

}  // namespace crisol::dist
