// Makes a module of a decoded model.
#pragma once

#include "crisol/onnx.h"
#include "onnx/reader/model_file.h"

namespace crisol::onnx {

Model make_model(file::ModelFile& file, Device device);

}  // namespace crisol::onnx
