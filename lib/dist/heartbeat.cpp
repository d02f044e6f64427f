#include "dist/heartbeat.h"

#include <utility>

namespace crisol::dist {

namespace {

constexpr std::chrono::milliseconds interval{1000}, look_interval{50};
constexpr int tag = 1;

}  // namespace

Heartbeat::Heartbeat(MPI_Comm comm, int limit, std::function<void(int, int)> silent)
    : comm_(comm), limit_(limit), silent_(std::move(silent)) {
  int rank = 0, world = 1;
  check_mpi(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &world), "MPI_Comm_size");
  next_ = (rank + 1) % world;
  before_ = (rank + world - 1) % world;
  alone_ = world == 1 || limit_ == 0;
}

void Heartbeat::send() {
  int done = 1;
  if (sending_ != MPI_REQUEST_NULL) check_mpi(MPI_Test(&sending_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0) check_mpi(MPI_Isend(&sent_, 1, MPI_BYTE, next_, tag, comm_, &sending_), "MPI_Isend");
}

bool Heartbeat::receive() {
  if (receiving_ == MPI_REQUEST_NULL)
    check_mpi(MPI_Irecv(&received_, 1, MPI_BYTE, before_, tag, comm_, &receiving_), "MPI_Irecv");
  int done = 0;
  check_mpi(MPI_Test(&receiving_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

void Heartbeat::beat() {
  if (alone_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < look_interval) return;
  looked_ = now;
  if (receive()) silence_ = 0;
  if (now - sent_at_ < interval) return;
  sent_at_ = now;
  send();
  if (++silence_ > limit_) silent_(before_, silence_);
}

void Heartbeat::stop() {
  if (receiving_ != MPI_REQUEST_NULL) check_mpi(MPI_Cancel(&receiving_), "MPI_Cancel");
  for (MPI_Request* const request : {&receiving_, &sending_})
    if (*request != MPI_REQUEST_NULL) check_mpi(MPI_Request_free(request), "MPI_Request_free");
}

}  // namespace crisol::dist
