// Files next to a model that hold the data of its large tensors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "io/files/mapped_file.h"
#include "onnx/reader/model.h"

namespace crisol::onnx::file {

/// Maps the files that a model names, each once. A model may come from a stranger, and must not read other files of the
/// user. So a location must be relative and have no "..". It must lead to a regular file in the model's folder or below
/// it, also after following all symbolic links. Failures throw Error (ErrorCode::io).
class ExternalFiles {
 public:
  explicit ExternalFiles(const std::string& model_path) : model_path_(model_path) {}

  /// The bytes of a tensor whose data are in an external file.
  std::string_view bytes_of(const TensorProto& tensor);
  /// The file that contains these bytes.
  std::shared_ptr<const io::MappedFile> file_of(const TensorProto& tensor) { return file_at(tensor.external.location); }

 private:
  const std::shared_ptr<const io::MappedFile>& file_at(std::string_view location);

  std::string model_path_;
  std::map<std::string, std::shared_ptr<const io::MappedFile>, std::less<>> files_;
};

}  // namespace crisol::onnx::file
