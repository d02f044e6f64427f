// The variants of a problem against each other, with the operands of one call.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/choose.h"

namespace crisol::dispatch {

/// The operands of a call. The operands that plans write are copies in memory of their own. Packed copies of weights
/// are made in each run as in training, or kept as in inference.
class ScratchOperands {
 public:
  /// Throws out_of_memory.
  ScratchOperands(runtime::DeviceState& device, std::span<const OperandView> operands, std::uint32_t written,
                  bool keeps_copies);
  ~ScratchOperands();

  /// Copies the elements of the written operands again.
  void renew() const;
  std::span<const OperandView> views() const noexcept { return views_; }

 private:
  struct Copy {
    const runtime::Block* from;
    std::uint64_t first, bytes;  ///< In bytes.
    runtime::BlockPtr to;
    std::uint64_t at;
  };
  struct Keeper;

  runtime::BufferView copied(runtime::DeviceState& device, const runtime::BufferView& view);

  std::vector<Copy> copies_;
  std::vector<std::unique_ptr<Keeper>> keepers_;
  std::vector<OperandView> views_;
};

/// The contest is held in steps, so that it can wait for time between them.
class Contest {
 public:
  Contest(const AnyTable& table, std::vector<std::byte> problem, runtime::DeviceState& device);

  bool is_over() const noexcept { return is_over_; }
  /// The expected seconds of the next step. `compiling` is the time that a variant is expected to compile.
  double expected(double compiling) const;
  /// Whether the next step compiles a variant.
  bool compiles() const noexcept { return next_ < runners_.size(); }
  void step(const ScratchOperands& operands, std::span<const runtime::KernelArg> scalars);

  /// The names and the seconds of the winner, which may be the usual variant, and of the usual one. If only one variant
  /// accepts the problem, and nothing was timed, the seconds are 0.
  struct Outcome {
    std::string variant, usual;
    double seconds, usual_seconds;
  };
  Outcome outcome() const;

 private:
  struct Runner {
    Contender contender;
    PreparedPtr prepared = nullptr;
    double seconds = 0;  ///< Of one run.
    std::vector<double> rounds = {};
  };

  void enter(Runner& runner, const ScratchOperands& operands, std::span<const runtime::KernelArg> scalars);
  void drop_slow();
  void compare(const ScratchOperands& operands, std::span<const runtime::KernelArg> scalars);
  int rounds() const noexcept;

  const AnyTable& table_;
  const std::vector<std::byte> problem_;
  runtime::DeviceState& device_;
  std::vector<Runner> runners_;  ///< The usual variant first.
  std::size_t next_ = 0;
  std::size_t winner_ = 0;
  bool is_over_ = false;
};

}  // namespace crisol::dispatch
