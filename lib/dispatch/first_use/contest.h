// Times the variants of a problem against each other, with the operands of one call.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/choose.h"

namespace crisol::dispatch {

/// The operands of a call. Operands that plans write are replaced by copies. Packed copies of weights are made in each
/// run, as in training, or kept, as in inference.
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

/// The contest is done in steps, so that it can stop between them until there is time again.
class Contest {
 public:
  Contest(const AnyTable& table, std::vector<std::byte> problem, runtime::DeviceState& device);

  bool is_over() const noexcept { return is_over_; }
  /// The expected seconds of the next step. `compiling` is the expected time to compile a variant.
  double expected(double compiling) const;
  /// Whether the next step compiles a variant.
  bool compiles() const noexcept { return next_ < runners_.size(); }
  void step(const ScratchOperands& operands, std::span<const runtime::KernelArg> scalars);

  /// The names and the times of the winner and of the usual variant, which may be the winner. If only one variant
  /// accepts the problem, nothing is timed, and the seconds are 0.
  struct Outcome {
    std::string variant, usual;
    double seconds, usual_seconds;
  };
  Outcome outcome() const;

 private:
  struct Runner {
    Contender contender;
    PreparedPtr prepared = nullptr;
    double seconds = 0;  ///< Seconds of one run.
    std::vector<double> rounds = {};
  };

  void enter(Runner& runner, const ScratchOperands& operands, std::span<const runtime::KernelArg> scalars);
  void drop_slow();
  void compare(const ScratchOperands& operands, std::span<const runtime::KernelArg> scalars);
  int rounds() const noexcept;

  const AnyTable& table_;
  const std::vector<std::byte> problem_;
  runtime::DeviceState& device_;
  std::vector<Runner> runners_;  ///< The runners. The usual variant comes first.
  std::size_t next_ = 0;
  std::size_t winner_ = 0;
  bool is_over_ = false;
};

}  // namespace crisol::dispatch
