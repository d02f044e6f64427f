// A training between two of its steps: all that a checkpoint keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/optim.h"
#include "data.h"
#include "model.h"
#include "settings.h"

namespace text_lstm {

/// A text by its characters' numbers: nine tenths to train on, then the rest to validate.
struct Text {
  std::string name;  ///< For people and messages.
  Vocabulary vocabulary;
  std::vector<std::int64_t> characters;
  std::size_t train_end;

  std::size_t validation_count() const { return characters.size() - train_end; }
  /// Its length and a hash: whether a checkpoint belongs to it.
  std::string fingerprint() const;
};

/// The text of a file, or, without a name, the embedded one. Throws std::runtime_error when it is empty.
Text load_text(const std::string& path);

/// Throws std::runtime_error when the text is too short for a batch of windows.
void check_length(const Text& text, const Settings& settings);
/// Steps in a pass over the text.
std::int64_t steps_of_epoch(const Text& text, const Settings& settings);

class Trainer {
 public:
  Trainer(const Text& text, const Settings& settings);

  /// One step on the next window of all streams; the first one of a pass begins with zero states.
  void step();
  std::int64_t steps_done() const { return schedule_.steps(); }
  /// Mean loss per character in nats of the steps since the last take_loss(); waits.
  double loss() const;
  double take_loss();
  /// Mean loss per character over the validation text; waits.
  double validate();

  const CharModel& model() const { return model_; }
  const Settings& settings() const { return settings_; }

  /// `notes` travel with the checkpoint; load gives them back. load throws std::runtime_error for the checkpoint of
  /// another text or other settings.
  void save(const std::string& path, const std::string& notes) const;
  std::string load(const std::string& path);

 private:
  Settings settings_;
  std::string fingerprint_;
  CharModel model_;
  crisol::optim::Adam optimizer_;
  crisol::optim::OneCycleLR schedule_;
  Streams train_, validation_;
  crisol::nn::LSTMState state_;
  crisol::Tensor loss_sum_;  ///< Stays on the device, so that nothing waits for it.
  std::int64_t losses_ = 0;  ///< How many are in it.
};

}  // namespace text_lstm
