// Training on several ranks, when mpirun starts the sample. The sample does not depend on MPI: it opens libcrisol_dist.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crisol/nn/module.h"

struct crisol_data_parallel;

namespace samples {

/// The run that this process belongs to. Without mpirun, the process is a run of one rank, and nothing is opened.
class Ranks {
 public:
  /// Joins the run, if there is one. Call it before a device is used. `device` is the text of --device: with several
  /// ranks it means what CRISOL_DEVICE means for them. Ranks other than 0 no longer print to standard output. Throws
  /// std::runtime_error if the library cannot be opened.
  explicit Ranks(const std::string& device);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int world() const { return world_; }
  /// Whether this rank prints and writes files.
  bool is_first() const { return rank_ == 0; }
  /// The first of `count` things that belongs to this rank, and the number of them.
  std::int64_t first_of(std::int64_t count) const { return count * rank_ / world_; }
  std::int64_t part_of(std::int64_t count) const { return count * (rank_ + 1) / world_ - first_of(count); }

  /// ", rank 0 of 2" for a run of several ranks, otherwise nothing.
  std::string description() const;

  /// The numbers of all ranks, one rank after another. All ranks call it.
  std::vector<double> gather(const std::vector<double>& own) const;
  /// The sum of the numbers of all ranks.
  double sum(double own) const;
  /// Adds the elements of all ranks, in place.
  void add_up(const crisol::Tensor& x) const;

  /// Averages the gradients of a module over all ranks, until the object is destroyed.
  class Parallel {
   public:
    Parallel(const Ranks& ranks, crisol::nn::Module& module);
    ~Parallel();
    Parallel(const Parallel&) = delete;
    Parallel& operator=(const Parallel&) = delete;
    /// The number of samples of this rank in the next step.
    void set_weight(double samples);
    /// Takes part in a step without samples.
    void backward_without_samples();
    /// Gives the buffers of rank 0 to all ranks.
    void sync_buffers();

   private:
    const Ranks& ranks_;
    crisol_data_parallel* handle_ = nullptr;
  };

  /// Waits for all ranks. The sample calls it at its end.
  void finish();
  /// Ends all ranks, with the reason. Returns if there is only this one.
  void fail(const char* reason) const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;  ///< Null without mpirun.
  int rank_ = 0, world_ = 1;
};

/// Runs a sample: joins the run, calls `body`, and waits for the other ranks. If `body` throws, prints the text after
/// `name`, ends the other ranks, and returns 1.
int run_on_ranks(const char* name, const std::string& device, const std::function<int(Ranks& ranks)>& body);

}  // namespace samples
