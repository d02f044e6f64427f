// The network: characters in, logits of the next character out.
#pragma once

#include <string>
#include <utility>

#include "corpus.h"
#include "crisol/io/safetensors.h"
#include "crisol/nn/dropout.h"
#include "crisol/nn/embedding.h"
#include "crisol/nn/linear.h"
#include "crisol/nn/rnn.h"
#include "settings.h"

namespace text_lstm {

/// Embedding → LSTM layers → Linear, with dropout between the layers and before the last one.
class CharModel : public crisol::nn::Module {
 public:
  CharModel(std::int64_t characters, const Settings& settings);

  /// characters (T, B) → logits (T·B, characters) and the states after the last row. Undefined states are zeros.
  std::pair<crisol::Tensor, crisol::nn::LSTMState> run(const crisol::Tensor& characters,
                                                       const crisol::nn::LSTMState& state);

 private:
  crisol::nn::Embedding embedding_;
  crisol::nn::LSTM lstm_;
  crisol::nn::Dropout dropout_;
  crisol::nn::Linear decoder_;
};

/// Writes the weights, the vocabulary and everything else that load_weights needs.
void save_weights(const std::string& path, const CharModel& model, const Vocabulary& vocabulary,
                  const Settings& settings);

struct Trained {
  Vocabulary vocabulary;
  CharModel model;
};

/// Reads a file of save_weights, in inference mode. Throws std::runtime_error with the file's name when it contains
/// something else.
Trained load_weights(const std::string& path);

}  // namespace text_lstm
