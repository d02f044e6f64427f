// Small helpers for training programs: progress, metrics, early stopping and the best checkpoint. All are optional.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crisol/export.h"
#include "crisol/io/safetensors.h"
#include "crisol/named_tensors.h"
#include "crisol/scalar.h"

namespace crisol::training {

/// Named numbers in the order in which they are shown and written.
using Metrics = std::vector<std::pair<std::string, Scalar>>;

/// Progress of a number of training steps on standard output. On a terminal: a bar with speed and time left, redrawn
/// five times a second. Elsewhere: a line after every tenth of the steps.
///
///     training::Progress progress("epoch 1/5", loader.batches(), "images");
///     for (const io::Batch& batch : loader) {
///       Tensor loss = step(batch);
///       if (progress.step(batch.size())) progress.show({{"loss", loss.item()}});
///     }
class CRISOL_API Progress {
 public:
  /// The line starts with `label`. `unit` is the name of the units whose speed is shown. Throws invalid_argument for a
  /// negative number of steps.
  Progress(std::string label, std::int64_t steps, std::string unit = "steps");
  /// Calls finish().
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts a step that processed this number of units. Returns whether it is time to call show(). A program should
  /// read a loss only then, because the read waits for the device.
  bool step(std::int64_t units = 1);
  /// Shows the progress and these metrics.
  void show(const Metrics& metrics = {});
  /// Removes the bar.
  void finish();
  /// Seconds since the construction.
  double seconds() const;
  /// The sum of all units.
  std::int64_t units() const noexcept { return now_.units; }

 private:
  struct Mark {
    std::int64_t steps = 0, units = 0;
    double seconds = 0;
  };

  std::string label_, unit_;
  std::int64_t steps_;
  bool terminal_, drawn_ = false;
  std::chrono::steady_clock::time_point start_;
  Mark now_, first_, last_;  // The first step may compile, so speeds are computed from its end on.
  std::int64_t next_ = 1;
};

/// A file of metrics: JSON lines for the extension .jsonl, CSV for .csv. Each row is written at once, so all rows
/// remain if the training is killed. Functions throw Error (ErrorCode::io) if the file cannot be written.
class CRISOL_API MetricsFile {
 public:
  /// Replaces an existing file. With `append` it adds rows to the file, for a resumed training. Throws invalid_argument
  /// for another extension.
  explicit MetricsFile(const std::string& path, bool append = false);
  ~MetricsFile();
  MetricsFile(MetricsFile&&) noexcept;
  /// Closes this file and takes over the other file.
  MetricsFile& operator=(MetricsFile&&) noexcept;

  /// Writes a row. JSON has no NaN and no infinity: they become null. In CSV the first row determines the columns.
  /// Throws invalid_argument if a row has other names, or a name twice.
  void write(const Metrics& row);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Options of EarlyStopping.
struct EarlyStoppingOptions {
  int patience = 5;       ///< The training ends after this number of values without an improvement. At least 1.
  double min_delta = 0;   ///< An improvement must be larger than this. At least 0.
  bool maximize = false;  ///< Larger values are better, such as an accuracy.
};

/// Tells when a value, such as the validation loss of each epoch, no longer improves.
///
///     training::EarlyStopping stopping({.patience = 3});
///     while (!stopping.stop()) {
///       …
///       if (stopping.update(validation_loss)) io::save_safetensors("best.safetensors", net.state_dict());
///     }
class CRISOL_API EarlyStopping {
 public:
  /// Throws invalid_argument for a patience below 1, and for a min_delta that is negative or not finite.
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});
  /// Takes the next value. Returns whether it is the best so far. NaN is never an improvement.
  bool update(double value);
  /// Whether the last `patience` values brought no improvement.
  bool stop() const noexcept { return waited_ >= options_.patience; }
  /// The best value; infinity, or -infinity with `maximize`, before the first improvement.
  double best() const noexcept { return best_; }
  /// The number of values up to the best one; 0 before the first.
  std::int64_t best_at() const noexcept { return best_at_; }

  /// The state, for io::Checkpoint::carried.
  NamedTensors state_dict() const;
  /// Restores a state. Throws invalid_argument for tensors that are not from state_dict().
  void load_state_dict(const NamedTensors& state);

 private:
  EarlyStoppingOptions options_;
  double best_;
  std::int64_t values_ = 0, best_at_ = 0, waited_ = 0;
};

/// Stores the best state of a model in a file, and its value in the metadata of the file.
class CRISOL_API BestCheckpoint {
 public:
  /// With `resume`, an existing file counts: only a better state replaces it. Throws io for a file that no
  /// BestCheckpoint wrote.
  explicit BestCheckpoint(std::string path, bool maximize = false, bool resume = false);
  /// Saves the state (io::save_safetensors) if the value is the best so far. Returns whether it did. NaN is never the
  /// best.
  bool update(double value, const NamedTensors& state, io::Metadata metadata = {});
  /// The best value; infinity, or -infinity with `maximize`, before the first.
  double best() const noexcept { return best_; }
  /// The saved state, for Module::load_state_dict. Throws io when there is none.
  NamedTensors load(Device device = Device()) const;

 private:
  std::string path_;
  bool maximize_;
  double best_;
};

}  // namespace crisol::training
