#include "model.h"

#include <charconv>
#include <stdexcept>

#include "crisol/error.h"

namespace text_lstm {

namespace {

constexpr const char* model_name = "text_lstm";

// Reads a layer size from the metadata. A coarse limit is enough, because the shapes of the weights are checked later.
std::int64_t size_of_layer(const std::string& path, const crisol::io::Metadata& metadata, const std::string& name) {
  const std::string& text = metadata.at(name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 65536)
    throw std::runtime_error(path + ": " + name + " is '" + text + "' in its metadata");
  return value;
}

}  // namespace

CharModel::CharModel(std::int64_t characters, const Settings& s)
    : embedding_(characters, s.embedding),
      lstm_(s.embedding, s.hidden, {.num_layers = static_cast<int>(s.layers), .dropout = s.dropout}),
      dropout_(s.dropout),
      decoder_(s.hidden, characters) {
  register_module("embedding", embedding_);
  register_module("lstm", lstm_);
  register_module("dropout", dropout_);
  register_module("decoder", decoder_);
}

std::pair<crisol::Tensor, crisol::nn::LSTMState> CharModel::run(const crisol::Tensor& characters,
                                                                const crisol::nn::LSTMState& state) {
  const auto [output, last] = lstm_(embedding_(characters), state);
  return {decoder_(dropout_(output.flatten(0, 1))), last};
}

void save_weights(const std::string& path, const CharModel& model, const Vocabulary& vocabulary,
                  const Settings& settings) {
  crisol::io::save_safetensors(path, model.state_dict(),
                               {{"model", model_name},
                                {"vocabulary", encode_utf8(vocabulary.characters())},
                                {"layers", std::to_string(settings.layers)},
                                {"embedding", std::to_string(settings.embedding)},
                                {"hidden", std::to_string(settings.hidden)}});
}

Trained load_weights(const std::string& path) {
  crisol::io::Metadata metadata;
  const crisol::NamedTensors state = crisol::io::load_safetensors(path, crisol::Device(), &metadata);
  for (const char* name : {"model", "vocabulary", "layers", "embedding", "hidden"})
    if (metadata.count(name) == 0 || (name == std::string("model") && metadata[name] != model_name))
      throw std::runtime_error(path + " holds no weights of text_lstm: " + name +
                               (metadata.count(name) == 0 ? " is missing in its metadata" : " is " + metadata[name]));
  Settings settings;
  settings.layers = size_of_layer(path, metadata, "layers");
  settings.embedding = size_of_layer(path, metadata, "embedding");
  settings.hidden = size_of_layer(path, metadata, "hidden");
  Vocabulary vocabulary(decode_utf8(metadata["vocabulary"], "the vocabulary of " + path));
  try {
    CharModel model(vocabulary.size(), settings);
    model.load_state_dict(state);
    model.eval();
    return {std::move(vocabulary), std::move(model)};
  } catch (const crisol::Error& error) {
    throw std::runtime_error(path + " holds no weights of text_lstm: " + error.what());
  }
}

}  // namespace text_lstm
