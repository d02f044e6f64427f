// A training, one step at a time, with all the state that a checkpoint keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisol/optim.h"
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
  Trainer(const Text& text, const Settings& settings);

  /// One step on the next window of all streams. The first step of a pass starts with zero states.
  void step();
  std::int64_t steps_done() const { return schedule_.steps(); }
  /// Mean loss per character in nats, over the steps since the last take_loss(). Waits for the device.
  double loss() const;
  double take_loss();
  /// Mean loss per character over the validation text. Waits for the device.
  double validate();

  const CharModel& model() const { return model_; }
  const Settings& settings() const { return settings_; }

  /// save() stores `notes` in the checkpoint, and load() returns them. load() throws std::runtime_error if the
  /// checkpoint belongs to another text or other settings.
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
  std::int64_t losses_ = 0;  ///< The number of losses in loss_sum_.
};

}  // namespace text_lstm
