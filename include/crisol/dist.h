// Training on several devices: one process for each device, connected by MPI.
//
//     dist::init();                               // Each process (rank) takes a device.
//     Net net;
//     optim::SGD optimizer(net.parameters(), 0.1);
//     dist::DataParallel model(net);              // All ranks get the weights of rank 0.
//     for (const io::Batch& batch : loader) {     // Each rank reads other samples: see io::ShardedSampler.
//       optimizer.zero_grad();
//       cross_entropy(model(batch.input), batch.target).backward();  // Gradients are averaged meanwhile.
//       optimizer.step();                         // The same step everywhere.
//     }
//     dist::finish();
//
// `mpirun -n 2 program` starts two ranks. All ranks make the same calls in the same order. The same ranks give the same
// bits in each run, because every sum is taken in the order of the ranks. The functions are in a library of their own,
// libcrisol_dist.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crisol/export.h"
#include "crisol/named_tensors.h"
#include "crisol/nn/module.h"
#include "crisol/optim/optimizer.h"
#include "crisol/tensor.h"

namespace crisol::dist {

/// Starts MPI, unless the program did, and connects all ranks. Call it before anything else of the library. Without
/// mpirun there is one rank. Chooses the default device of this rank by its place on the machine:
///
/// - `CRISOL_DEVICE=gpu`, or any text that fits several devices: the n-th such device for the n-th rank of the machine.
/// - `CRISOL_DEVICE=gpu:0,gpu:1`: the n-th of the list.
/// - Without the variable: the n-th GPU, if there are several, otherwise the default device.
///
/// With fewer devices than ranks, several ranks share a device. Ranks that compute on the cores of the same machine get
/// different cores, unless mpirun has chosen cores. Throws invalid_argument if a rank has another version of the
/// library, and if init() was called before. From then on, if a rank ends, the whole run ends. A rank ends by an
/// exception that nobody catches, by exit() before finish(), by a signal, or by silence for longer than
/// CRISOL_DIST_TIMEOUT seconds (default 8; 0: never).
CRISOL_API void init();
/// Waits for all ranks and ends MPI, if init() started it. Call it last, on every rank.
CRISOL_API void finish();
/// Whether init() was called, and finish() was not.
CRISOL_API bool initialized() noexcept;
/// Prints the reason with the number of this rank, and ends all ranks. For programs that catch their exceptions.
[[noreturn]] CRISOL_API void fail(const std::string& reason) noexcept;

/// The number of this process, from 0. This function and the functions below throw invalid_argument before init().
CRISOL_API int rank();
/// The number of processes.
CRISOL_API int world();
/// The number of this process among the processes of its machine.
CRISOL_API int local_rank();
/// The number of processes on this machine.
CRISOL_API int local_world();

/// How elements are combined. A sum or mean of floating-point numbers adds in the order of the ranks, f16 with f32 for
/// the sums. Whole numbers wrap around. For bool, sum and max mean "or", and min means "and".
enum class ReduceOp : std::uint8_t { sum, mean, min, max };

/// Replaces each element of x by the sum, mean, … of the elements that all ranks have at its position. Takes every
/// element type. Only floating-point tensors have a mean. This function and the functions below wait for the device. If
/// the ranks call different functions, or give different shapes, element types or operations, these functions throw
/// invalid_argument on every rank and change nothing.
CRISOL_API void all_reduce(Tensor x, ReduceOp op = ReduceOp::sum);
/// Replaces the elements of x by the elements that rank `root` has.
CRISOL_API void broadcast(Tensor x, int root = 0);
/// The tensors of all ranks one after another: (world · n, …) for x of shape (n, …). x has at least one axis.
CRISOL_API Tensor all_gather(const Tensor& x);
/// Combines x over all ranks, cuts the result into world equal parts along axis 0, and gives rank r part r.
CRISOL_API Tensor reduce_scatter(const Tensor& x, ReduceOp op = ReduceOp::sum);
/// Waits until all ranks are here. Does not wait for the device.
CRISOL_API void barrier();

/// How DataParallel sums gradients.
struct DataParallelOptions {
  std::int64_t bucket_bytes = std::int64_t{25} << 20;       ///< Gradients are summed in buckets of about this size.
  std::int64_t first_bucket_bytes = std::int64_t{1} << 20;  ///< The size of the first bucket, which starts early.
  bool overlap = true;                                      ///< Sums a bucket while backward() computes the others.
  std::int64_t check_every = 500;  ///< Steps between two comparisons of the weights of all ranks; 0: never.
};

/// Lets all layers BatchNorm2d and BatchNorm3d below a module use the statistics of the samples of all ranks in
/// training, as PyTorch's SyncBatchNorm does. Returns their number. With it, N ranks with B / N samples each compute
/// the same as one process with B samples. Each rank needs samples in each step. All ranks call the layers in the same
/// order.
CRISOL_API int sync_batch_norm(nn::Module& module);

struct DataParallelImpl;

/// Averages the gradients of a module over all ranks in each backward(). While such an object lives, every backward()
/// through the parameters is a step of all ranks together. All ranks make it with the same parameters. Their names,
/// shapes and order are compared. Its constructor gives all ranks the parameters and buffers of rank 0. Parameters must
/// be leaves on one device, of floating-point numbers. Their gradients are summed in f32, or in f64 if a parameter is
/// f64, and rounded once. Parameters that want no gradient are left alone.
///
/// When backward() returns, the gradients are the same on all ranks. If a parameter got a gradient on some ranks only,
/// backward() throws invalid_argument on every rank and names it. An exception in backward() ends the run, because the
/// other ranks wait for the gradients.
///
/// A captured step (crisol/capture.h) is cut at the buckets, so a replay starts the sum of a bucket before it queues
/// the rest of backward. Replays count as passes, and use the present weight. A step that was captured with
/// set_sync(false) sums nothing.
///
/// Buffers, such as the statistics of batch norm, are not averaged: each rank has its own, and rank 0 saves its
/// buffers. sync_buffers() gives them to all ranks. sync_batch_norm() shares the statistics themselves.
class CRISOL_API DataParallel {
 public:
  explicit DataParallel(nn::Module& module, const DataParallelOptions& options = {});
  /// For parameters that do not belong to a Module.
  DataParallel(const NamedTensors& parameters, const NamedTensors& buffers, const DataParallelOptions& options = {});
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// module(x).
  Tensor operator()(const Tensor& x);

  /// The weight of this rank's gradients in the next backward() passes, such as the number of its samples. The average
  /// is the sum of weight · gradient, divided by the sum of the weights. All have weight 1 at first. Throws
  /// invalid_argument unless weight >= 0 and finite.
  void set_weight(double weight);
  /// Takes part in a backward() of the other ranks without samples of its own, with weight 0.
  void backward_without_samples();
  /// With `false`, backward() sums nothing, and the gradients of several passes add up on each rank. The first pass
  /// after set_sync(true) averages these sums.
  void set_sync(bool sync) noexcept;
  /// Gives the buffers of rank 0 to all ranks.
  void sync_buffers();
  /// Compares the weights of all ranks. Throws invalid_argument, with ranks and parameters, if they differ. Ranks on
  /// different devices, whose steps are rounded differently, take the weights of rank 0. There only differences of more
  /// than a thousandth of a parameter's largest weight throw.
  void check_weights();
  /// The number of buckets.
  std::size_t buckets() const noexcept;

 private:
  std::shared_ptr<DataParallelImpl> impl_;
};

struct ShardedOptimizerImpl;

/// An optimiser whose state is divided among the ranks (stage 1 of ZeRO, Rajbhandari et al. 2020). Each rank updates
/// one part of all parameters, and has the state of this part alone. backward() starts to average a bucket of gradients
/// when they are complete. step() waits for the averages, updates this rank's part, and gives the new values to all
/// ranks. So this class replaces DataParallel. All ranks must make the same calls of backward() and zero_grad().
///
///     dist::ShardedOptimizer optimizer(net.named_parameters(), [](const std::vector<Tensor>& parts) {
///       return std::make_unique<optim::Adam>(parts, 1e-3);
///     });
///
/// The grad() of a parameter stays the rank's own gradient. If it changes after the first backward(), by another
/// backward() or otherwise, step() averages its bucket once more. A new weight has the same effect. Replays of a
/// captured backward() average nothing, so step() does it.
///
/// Parameters stay where they are. For a moment, backward() and step() need the memory of two buckets. A rank keeps a
/// second copy of its own part and of the gradients of this part. Every optimiser of the library updates each element
/// separately. So the weights are the same as with an undivided optimiser.
class CRISOL_API ShardedOptimizer {
 public:
  /// Makes the optimiser of this rank for parts of the parameters, which are tensors of rank 1.
  using Make = std::function<std::shared_ptr<optim::Optimizer>(const std::vector<Tensor>& parts)>;

  /// Gives all ranks the parameters of rank 0. Parameters must be leaves of one
  /// floating-point type on one device that want gradients. f16 and bf16 are summed in f32. Throws
  /// invalid_argument on every rank if the ranks have different parameters or buckets, and if there are too few
  /// elements for a part on each rank.
  ShardedOptimizer(const NamedTensors& parameters, const Make& make,
                   std::int64_t bucket_bytes = std::int64_t{25} << 20);
  ~ShardedOptimizer();
  ShardedOptimizer(const ShardedOptimizer&) = delete;
  ShardedOptimizer& operator=(const ShardedOptimizer&) = delete;

  /// Discards the gradients.
  void zero_grad();
  /// The same. Without `set_to_none`, the gradients stay the same tensors and become zeros.
  void zero_grad(bool set_to_none);
  /// Averages the gradients, and scales the averages by min(1, max_norm / (norm + 1e-6)), so that their common
  /// Euclidean norm is at most max_norm: optim::clip_grad_norm for all ranks together. All ranks call it between
  /// backward() and step(). step() uses the scaled gradients. Returns the norm before scaling, the same on all ranks.
  /// Throws as step() does, and if max_norm is not positive. A backward() after it throws invalid_argument until step()
  /// or zero_grad().
  double clip_grad_norm(double max_norm);
  /// One step of all ranks. Throws invalid_argument on every rank, and changes nothing, if a parameter has a gradient
  /// on some ranks only, or if no parameter has a gradient.
  void step();
  /// The weight of this rank's gradients in the average: see DataParallel::set_weight.
  void set_weight(double weight);
  /// The optimiser of this rank's part: for learning rates and their schedules.
  optim::Optimizer& own();

  /// The state of all parameters, as an undivided optimiser would give it. All ranks call it. So training can continue
  /// with another number of ranks, or without ranks.
  NamedTensors state_dict() const;
  /// Restores a state of an undivided optimiser. All ranks call it with the same state. Throws invalid_argument for a
  /// state of other parameters.
  void load_state_dict(const NamedTensors& state);

 private:
  std::shared_ptr<ShardedOptimizerImpl> impl_;
};

}  // namespace crisol::dist
