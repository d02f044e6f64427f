// An ONNX file: the decoded model, and the data of its tensors.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/mapped_file.h"
#include "onnx/reader/external_files.h"
#include "onnx/reader/message.h"
#include "onnx/reader/model.h"

namespace crisol::onnx::file {

/// Elements of a tensor, little-endian and without gaps, as raw_data holds them. Elements of less than 8 bits lie side
/// by side, the first in the lowest bits.
struct Elements {
  std::string_view mapped;  ///< In `file`; nothing if the elements were decoded.
  std::string decoded;
  std::shared_ptr<const io::MappedFile> file;

  std::string_view bytes() const noexcept { return file != nullptr ? mapped : decoded; }
};

/// A mapped file with one message, and the data of the tensors in it. The file is not trusted: every failure throws
/// Error (ErrorCode::io) with the file, the place and the rule.
class ProtoFile {
 public:
  const std::string& path() const noexcept { return file_->path(); }
  std::uint64_t size() const noexcept { return file_->bytes().size(); }

  /// The elements of a tensor of numbers. Their values are checked too: a bool is 0 or 1, an i8 has 8 bits.
  Elements elements_of(const TensorProto& tensor);
  /// The elements of a tensor of strings.
  std::vector<std::string_view> strings_of(const TensorProto& tensor);

 protected:
  /// `what` is "an ONNX model" or the like, for refusals.
  ProtoFile(const std::string& path, const char* what);

  Document& document() noexcept { return document_; }

 private:
  std::shared_ptr<const io::MappedFile> file_;
  Document document_;
  ExternalFiles external_;
};

/// A model in a file.
class ModelFile : public ProtoFile {
 public:
  explicit ModelFile(const std::string& path);
  const ModelProto& model() const noexcept { return model_; }

 private:
  ModelProto model_;
};

/// A tensor in a file of its own.
class TensorFile : public ProtoFile {
 public:
  explicit TensorFile(const std::string& path);
  const TensorProto& tensor() const noexcept { return tensor_; }

 private:
  TensorProto tensor_;
};

}  // namespace crisol::onnx::file
