// Models in ONNX files (https://onnx.ai).
//
// Files are not trusted. A file that is damaged, or that breaks a rule of the format, throws Error (ErrorCode::io) with
// the file, the place in it and the rule.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "crisol/export.h"

namespace crisol::onnx {

/// One size of a shape: a number, a name, or neither.
struct Dimension {
  std::int64_t size = -1;  ///< -1 if the file does not fix the size.
  std::string name;        ///< Such as "batch". Sizes of one name are equal.
};

/// An input or output of a model.
struct ValueInfo {
  std::string name;              ///< By which a program gives or takes it.
  std::string type;              ///< Its elements: "f32", "i64", "string", …, or "sequence(f32)"; "undefined".
  bool has_shape = false;        ///< False if even the number of axes is open.
  std::vector<Dimension> shape;  ///< Outermost axis first.
};

/// The version of a set of ops that a model uses.
struct OperatorSet {
  std::string domain;        ///< "ai.onnx" for ONNX's own ops.
  std::int64_t version = 0;  ///< At least 1.
};

/// How often a model uses an op.
struct OpCount {
  std::string domain;      ///< "ai.onnx" for ONNX's own ops.
  std::string name;        ///< Such as "Conv".
  std::int64_t nodes = 0;  ///< In the graph, in graphs within nodes, and in the bodies of functions.
};

/// An op that the model defines by other ops.
struct FunctionInfo {
  std::string domain;      ///< As in the nodes that call it.
  std::string name;        ///< As in the nodes that call it.
  std::int64_t nodes = 0;  ///< In its body.
};

/// The initializers of one element type: the constants that a file stores, such as weights.
struct InitializerCount {
  std::string type;           ///< Of the elements, such as "f32".
  std::int64_t tensors = 0;   ///< How many there are.
  std::int64_t elements = 0;  ///< Of all of them.
  std::uint64_t bytes = 0;    ///< Of all elements.
};

/// A file beside the model that holds the elements of tensors.
struct ExternalFile {
  std::string location;      ///< Relative to the model's folder.
  std::int64_t tensors = 0;  ///< That lie in it.
  std::uint64_t bytes = 0;   ///< Of these tensors.
  std::string fault;         ///< Why a tensor cannot be read; empty if all can.
};

/// What an ONNX file says about itself.
struct ModelInfo {
  std::string path;                             ///< The file.
  std::uint64_t file_bytes = 0;                 ///< Its size.
  std::int64_t ir_version = 0;                  ///< The version of the file format.
  std::string producer;                         ///< The program that wrote the file.
  std::string producer_version;                 ///< Its version.
  std::string domain;                           ///< Of the model, by its author.
  std::int64_t model_version = 0;               ///< By its author.
  std::vector<OperatorSet> operator_sets;       ///< In the order of the file.
  std::vector<ValueInfo> inputs;                ///< Without those that are initializers too.
  std::vector<ValueInfo> outputs;               ///< In the order of the file.
  std::vector<OpCount> ops;                     ///< The most frequent first.
  std::vector<FunctionInfo> functions;          ///< In the order of the file.
  std::vector<InitializerCount> initializers;   ///< The most bytes first.
  std::int64_t parameters = 0;                  ///< Elements of the initializers of floating-point numbers.
  std::vector<ExternalFile> external_files;     ///< By location.
  std::map<std::string, std::string> metadata;  ///< Free text by name.
  bool has_training = false;                    ///< The file also holds graphs for training, which crisol does not use.
};

/// Reads a file without its weights. External files are only checked: what is wrong with one stands in its `fault`.
CRISOL_API ModelInfo read_info(const std::string& path);

/// The facts as JSON. A size that is not fixed is its name or null, and an open shape is null.
CRISOL_API std::string to_json(const ModelInfo& info);

/// The facts for people, as `crisol onnx info` prints them.
CRISOL_API std::ostream& operator<<(std::ostream& out, const ModelInfo& info);

}  // namespace crisol::onnx
