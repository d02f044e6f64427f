// The networks that the sample trains.
#pragma once

#include <memory>
#include <string>

#include "crisol/nn/module.h"

namespace mnist {

/// "cnn" makes nn::SimpleCNN. "lstm" makes nn::RowLSTM, which reads an image as 28 rows of 28 pixels. Throws
/// std::invalid_argument for any other name.
std::unique_ptr<crisol::nn::Module> make_model(const std::string& name);

/// Writes the weights and the model's name.
void save_model(const std::string& path, const std::string& name, const crisol::nn::Module& model);

/// Reads a file of save_model. Throws std::runtime_error with the file's name when it contains something else.
std::unique_ptr<crisol::nn::Module> load_model(const std::string& path);

}  // namespace mnist
