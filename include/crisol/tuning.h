// Which variant computes a problem: what `crisol tune` measures, stores and reads. docs/tuning.md tells how to use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/device.h"
#include "crisol/export.h"

namespace crisol {

/// One way to compute a problem.
struct TuningCandidate {
  std::string variant;  ///< "cpu_tiled", or with one of the tiles that a variant has a choice of, "block/64x64".
  std::string refusal;  ///< Why it does not take the problem on this device; empty where it does.
};

/// Work of one size that an op did.
struct TuningProblem {
  std::string op;          ///< As CRISOL_VARIANT names it.
  std::string text;        ///< The op, and what distinguishes the problem: "matmul m=64 n=10 k=128 …".
  std::uint64_t key = 0;   ///< A hash of the text's words.
  std::int64_t times = 0;  ///< How often it came.
  std::vector<TuningCandidate> candidates;  ///< In the order in which the library asks them.

  /// The first candidate that takes the problem: the library's own choice.
  CRISOL_API const std::string& usual() const;
};

/// Gathers the problems of this thread's ops while it lives; several may live at once.
class CRISOL_API ProblemLog {
 public:
  ProblemLog() noexcept;
  ~ProblemLog();
  ProblemLog(const ProblemLog&) = delete;
  ProblemLog& operator=(const ProblemLog&) = delete;

  /// In the order in which they came first.
  const std::vector<TuningProblem>& problems() const noexcept { return problems_; }

  /// Counts a problem, here and in the logs around.
  void note(const TuningProblem& problem);

 private:
  ProblemLog* outer_;
  std::vector<TuningProblem> problems_;
};

/// Makes an op use a variant, by the name of a TuningCandidate, on this thread while it lives. The op throws
/// invalid_argument where that refuses or does not exist. The innermost wins, and over CRISOL_VARIANT.
class CRISOL_API ForcedVariant {
 public:
  ForcedVariant(std::string op, std::string variant);
  ~ForcedVariant();
  ForcedVariant(const ForcedVariant&) = delete;
  ForcedVariant& operator=(const ForcedVariant&) = delete;
};

/// A stored choice.
struct TuningEntry {
  std::string device;                  ///< tuning_device() of the device that it was measured on.
  std::string problem;                 ///< TuningProblem::text
  std::uint64_t key = 0;               ///< TuningProblem::key
  std::string variant;                 ///< What to use,
  std::int64_t nanoseconds = 0;        ///< and the time that it took.
  std::string usual;                   ///< What it was better than,
  std::int64_t usual_nanoseconds = 0;  ///< and the time of that.
};

/// What entries are kept apart by, in one line: the version of crisol, platform, device, driver and compute units.
CRISOL_API std::string tuning_device(const DeviceInfo& info);

/// The file of the stored choices: CRISOL_TUNING where that names one, else tuning.txt in the folder of compiled
/// kernels (kernel_cache_folder()); empty when CRISOL_TUNING is 0 or there is no folder, and then nothing is used or
/// stored.
CRISOL_API std::string tuning_file();

/// All entries of the file, of any device; none, with a line on stderr, where the file is damaged.
CRISOL_API std::vector<TuningEntry> tuning_entries();

/// Puts an entry into the file in place of that of the same device and problem, if there is one; two processes that
/// store at once keep the entries of both. Programs that start later use it. Throws io, naming the file, when it cannot
/// be written, and invalid_argument when there is no file.
CRISOL_API void store_tuning(const TuningEntry& entry);

/// Removes the entry of a device and a problem; returns whether there was one. Throws as store_tuning does.
CRISOL_API bool remove_tuning(const std::string& device, std::uint64_t key);

/// Removes the file; returns how many entries it had. Throws io, naming the file, when it cannot be removed.
CRISOL_API std::int64_t clear_tuning();

}  // namespace crisol
