// A training, one step at a time, with all the state that a checkpoint keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/mixed_precision.h"
#include "common/ranks.h"
#include "crisol/optim.h"
#include "crisol/random.h"
#include "data.h"
#include "model.h"
#include "settings.h"

namespace text_lstm {

/// A text as character numbers. Training uses the first nine tenths, validation the rest.
struct Text {
  std::string name;  ///< A name for messages.
  Vocabulary vocabulary;
  std::vector<std::int64_t> characters;
  std::size_t train_end;

  std::size_t validation_count() const { return characters.size() - train_end; }
  /// The text's length and hash. They tell whether a checkpoint belongs to this text.
  std::string fingerprint() const;
};

/// Reads a file, or the embedded text if `path` is empty. Throws std::runtime_error when the text is empty.
Text load_text(const std::string& path);

/// Throws std::runtime_error when the text is too short for a batch of windows.
void check_length(const Text& text, const Settings& settings);
/// Steps in a pass over the text.
std::int64_t steps_of_epoch(const Text& text, const Settings& settings);

class Trainer {
 public:
  /// Each rank trains on a part of the streams.
  Trainer(const Text& text, const Settings& settings, const samples::Ranks& ranks);

  /// One step on the next window of all streams. The first step of a pass starts with zero states.
  void step();
  std::int64_t steps_done() const { return schedule_.steps(); }
  /// The streams of this rank.
  std::int64_t streams() const { return train_.count(); }
  /// Mean loss per character in nats of this rank's streams, over the steps since the last take_loss(). Waits for the
  /// device.
  double loss() const;
  /// The same of all streams. This function and those below are called on every rank.
  double take_loss();
  /// Mean loss per character over the validation text. Waits for the device.
  double validate();

  const CharModel& model() const { return model_; }
  const Settings& settings() const { return settings_; }

  /// save() stores `notes` in the checkpoint, and load() returns them. Rank 0 writes the file, and all ranks read it.
  /// The checkpoint does not depend on the number of ranks. load() throws std::runtime_error if the checkpoint belongs
  /// to another text or other settings.
  void save(const std::string& path, const std::string& notes);
  std::string load(const std::string& path);

 private:
  /// A rank's share of the streams, and so of a mean.
  double share() const { return static_cast<double>(streams()) / static_cast<double>(settings_.batch); }
  crisol::Tensor state_of_all(const crisol::Tensor& own) const;
  /// The loss of a window of the training text. Keeps the state behind it.
  crisol::Tensor loss_of(std::int64_t first);
  void set_generator(crisol::GeneratorState state);

  const samples::Ranks& ranks_;
  Settings settings_;
  std::string fingerprint_;
  CharModel model_;
  crisol::optim::Adam optimizer_;
  crisol::optim::OneCycleLR schedule_;
  samples::Ranks::Parallel parallel_;
  samples::MixedPrecision precision_;
  Streams train_, validation_;
  double validation_share_;
  crisol::nn::LSTMState state_;
  crisol::Tensor loss_sum_;  ///< Stays on the device, so that nothing waits for it.
  std::int64_t losses_ = 0;  ///< The number of losses in loss_sum_.
};

}  // namespace text_lstm
