// The run that this process is a part of, between init() and finish().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dist/mpi.h"
#include "dist/worker.h"

namespace crisol::dist {

class Session {
 public:
  /// Connects all ranks.
  Session();
  /// The session of the process. Before init() and after finish() it throws, and names `op`.
  static Session& get(const char* op);

  int rank() const noexcept { return rank_; }
  int world() const noexcept { return world_; }
  int local_rank() const noexcept { return local_rank_; }
  int local_world() const noexcept { return local_world_; }
  Worker& worker() noexcept { return *worker_; }
  /// For example "rank 2 of 4 (host)".
  std::string name_of(int rank) const;

  /// Unless all ranks give the same text, throws on every rank, and names all ranks that differ. `what` names the
  /// subject of the text.
  void require_same(const char* op, const char* what, const std::string& text);

  /// The weight of this rank's gradients in the average: see DataParallel::set_weight.
  double weight = 1;
  /// Set if layers share the statistics of a batch. Then each rank needs samples in each step.
  bool shares_statistics = false;

  /// Waits for all ranks and ends MPI.
  void end();

 private:
  void open();
  void read_places();
  void choose_resources() const;
  void share_memory();

  bool owns_mpi_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL, notes_ = MPI_COMM_NULL, beats_ = MPI_COMM_NULL, local_ = MPI_COMM_NULL;
  int rank_ = 0, world_ = 1, local_rank_ = 0, local_world_ = 1;
  std::vector<std::string> hosts_;  ///< By rank.
  std::unique_ptr<SharedMemory> memory_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace crisol::dist
