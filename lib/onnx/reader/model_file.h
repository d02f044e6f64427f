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

/// The elements of a tensor as in raw_data: little-endian, without gaps. Elements of less than 8 bits are packed, the
/// first in the lowest bits.
struct Elements {
  std::string_view stored;  ///< The bytes in `file` or in the caller's memory. Empty if the elements were decoded.
  std::string decoded;
  std::shared_ptr<const io::MappedFile> file;  ///< Null if the bytes are not in a file.

  std::string_view bytes() const noexcept { return decoded.empty() ? stored : decoded; }
};

/// A mapped file with one message, and the data of the message's tensors. The file is not trusted: every failure throws
/// Error (ErrorCode::io) with the file, the position and the broken rule.
class ProtoFile {
 public:
  const std::string& path() const noexcept { return document_.path; }
  std::uint64_t size() const noexcept { return document_.bytes.size(); }

  /// The elements of a tensor of numbers. Their values are checked too: for example, a bool must be 0 or 1, and an i8
  /// must fit into 8 bits.
  Elements elements_of(const TensorProto& tensor);
  /// The elements of a tensor of strings.
  std::vector<std::string_view> strings_of(const TensorProto& tensor);

 protected:
  /// `what` says in messages what the file should be, such as "an ONNX model".
  ProtoFile(const std::string& path, const char* what);
  /// The bytes of a file that a program holds in memory, with a name for messages.
  ProtoFile(const std::string& name, std::string_view bytes);
  /// A message that a program holds decoded in memory, with a name for messages.
  explicit ProtoFile(const std::string& name) : document_{name, {}, 0}, external_(name) {}

  Document& document() noexcept { return document_; }

 private:
  std::shared_ptr<const io::MappedFile> file_;  ///< Null for a message in memory.
  Document document_;
  ExternalFiles external_;
};

/// A file with a model.
class ModelFile : public ProtoFile {
 public:
  explicit ModelFile(const std::string& path);
  ModelFile(const std::string& name, std::string_view bytes);
  /// A model in memory. Its tensors have their elements in memory too (Place::raw).
  ModelFile(const std::string& name, ModelProto model) : ProtoFile(name), model_(std::move(model)) {}
  const ModelProto& model() const noexcept { return model_; }

 private:
  ModelProto model_;
};

/// A file with one tensor.
class TensorFile : public ProtoFile {
 public:
  explicit TensorFile(const std::string& path);
  const TensorProto& tensor() const noexcept { return tensor_; }

 private:
  TensorProto tensor_;
};

}  // namespace crisol::onnx::file
