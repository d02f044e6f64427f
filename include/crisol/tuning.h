// The choice of variants by measurement: the data that `crisol tune` measures, stores and reads. docs/tuning.md
// explains its use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/export.h"

namespace crisol {

/// A variant that may compute a problem.
struct TuningCandidate {
  std::string variant;  ///< A name such as "cpu_tiled". A variant with several tiles adds the tile: "block/64x64".
  std::string refusal;  ///< The reason why it does not support the problem on this device. Empty if it does.
};

/// The work of an op at one size.
struct TuningProblem {
  std::string op;                           ///< The name of the op, as in CRISOL_VARIANT.
  std::string text;                         ///< The op with its sizes and settings: "matmul m=64 n=10 k=128 …".
  std::uint64_t key = 0;                    ///< A hash of the text's words.
  std::int64_t times = 0;                   ///< How often the op did this work.
  std::vector<TuningCandidate> candidates;  ///< In the order in which the library tries them.

  /// The library's own choice: the first candidate that supports the problem.
  CRISOL_API const std::string& usual() const;
};

/// Logs the problems of this thread's ops, from construction to destruction. Several logs may exist at the same time.
class CRISOL_API ProblemLog {
 public:
  ProblemLog() noexcept;
  ~ProblemLog();
  ProblemLog(const ProblemLog&) = delete;
  ProblemLog& operator=(const ProblemLog&) = delete;

  /// The problems, in the order of their first occurrence.
  const std::vector<TuningProblem>& problems() const noexcept { return problems_; }

  /// Counts a problem, in this log and in the logs that were started before it on this thread.
  void note(const TuningProblem& problem);

 private:
  ProblemLog* outer_;
  std::vector<TuningProblem> problems_;
};

/// Forces a variant of an op on this thread, from construction to destruction. `variant` is the name of a
/// TuningCandidate. The op throws invalid_argument if the variant does not support the problem or does not exist. The
/// innermost ForcedVariant of an op wins, even over CRISOL_VARIANT.
class CRISOL_API ForcedVariant {
 public:
  ForcedVariant(std::string op, std::string variant);
  ~ForcedVariant();
  ForcedVariant(const ForcedVariant&) = delete;
  ForcedVariant& operator=(const ForcedVariant&) = delete;
};

/// How much larger the numbers that a variant adds are than the terms of a result: 1 for plain sums, 8 for Winograd's
/// largest tiles. Rounding errors grow by this factor. `variant` may name a configuration. 1 for an op or a variant
/// that does not exist.
CRISOL_API double variant_growth(const std::string& op, const std::string& variant);

/// A stored choice of a variant. If `variant` equals `usual`, the library's own choice stays. Such entries come from
/// tuning at first use. If the times are 0, the problem occurred, but there was no time to measure it.
struct TuningEntry {
  std::string device;                  ///< tuning_device() of the measured device.
  std::string problem;                 ///< TuningProblem::text
  std::uint64_t key = 0;               ///< TuningProblem::key
  std::string variant;                 ///< The variant to use.
  std::int64_t nanoseconds = 0;        ///< The time of `variant`.
  std::string usual;                   ///< The library's own choice, which was slower.
  std::int64_t usual_nanoseconds = 0;  ///< The time of `usual`.
};

/// Whether the rules that choose variants were measured on devices like this one. On other devices the rules are only
/// models, and tuning may gain more: CRISOL_TUNE=first times variants at their first use.
CRISOL_API bool is_measured_device(const DeviceInfo& info);

/// The text that identifies a device in the entries: the version of crisol, platform, device, driver and compute units,
/// in one line.
CRISOL_API std::string tuning_device(const DeviceInfo& info);

/// The file of the stored choices: the file that CRISOL_TUNING names, otherwise tuning.txt in the folder of compiled
/// kernels (kernel_cache_folder()). The result is empty if CRISOL_TUNING is 0 or there is no folder. Then no choice is
/// used or stored.
CRISOL_API std::string tuning_file();

/// All entries of the file, for all devices. A damaged file gives no entries and a line on stderr.
CRISOL_API std::vector<TuningEntry> tuning_entries();

/// Stores an entry in the file. It replaces the entry of the same device and problem, if there is one. If two processes
/// store at the same time, the entries of both are kept. Programs that start later use the entry. Throws io, naming the
/// file, if the file cannot be written, and invalid_argument if tuning_file() is empty.
CRISOL_API void store_tuning(const TuningEntry& entry);

/// Removes the entry of a device and a problem. Returns whether there was one. Throws the same errors as store_tuning.
CRISOL_API bool remove_tuning(const std::string& device, std::uint64_t key);

/// Removes the file. Returns the number of its entries. Throws io, naming the file, if the file cannot be removed.
CRISOL_API std::int64_t clear_tuning();

namespace detail {
struct BlockOps;
/// Used by the command.
CRISOL_API const BlockOps& block_ops() noexcept;
}  // namespace detail

}  // namespace crisol
