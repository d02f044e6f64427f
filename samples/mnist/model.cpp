#include "model.h"

#include <stdexcept>

#include "crisol/error.h"
#include "crisol/io/safetensors.h"
#include "crisol/nn/models/row_lstm.h"
#include "crisol/nn/models/simple_cnn.h"

namespace mnist {

std::unique_ptr<crisol::nn::Module> make_model(const std::string& name) {
  if (name == "cnn") return std::make_unique<crisol::nn::SimpleCNN>();
  if (name == "lstm") return std::make_unique<crisol::nn::RowLSTM>();
  throw std::invalid_argument("no model " + name + ": there are cnn and lstm");
}

void save_model(const std::string& path, const std::string& name, const crisol::nn::Module& model) {
  crisol::io::save_safetensors(path, model.state_dict(), {{"model", name}});
}

std::unique_ptr<crisol::nn::Module> load_model(const std::string& path) {
  crisol::io::Metadata metadata;
  const crisol::NamedTensors state = crisol::io::load_safetensors(path, crisol::Device(), &metadata);
  try {
    // PyTorch's files do not name the model. They are read as "cnn", the sample's default model.
    std::unique_ptr<crisol::nn::Module> model = make_model(metadata.emplace("model", "cnn").first->second);
    model->load_state_dict(state);
    return model;
  } catch (const crisol::Error& error) {
    throw std::runtime_error(path + " holds no weights of this sample: " + error.what());
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(path + " holds no weights of this sample: " + error.what());
  }
}

}  // namespace mnist
