// The ops of ONNX that the library computes: a row for each, with the versions that it covers.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "onnx/reader/model.h"

namespace crisol::onnx {

/// The newest version of ONNX's operator set that the rows were compared with.
constexpr std::int64_t newest_version = 28;
/// The domain of the ops of classical machine learning, and its newest version.
constexpr const char* ml_domain = "ai.onnx.ml";
constexpr std::int64_t newest_ml_version = 5;

/// A node that is imported: its attributes and what else a builder needs. Every fault throws Error (invalid_argument)
/// with "[onnx] …", and the importer adds the node.
class Call {
 public:
  /// Reads a tensor of the file.
  using Load = std::function<graph::Datum(const file::TensorProto&)>;

  Call(const file::Node& node, std::vector<file::Attribute> attributes, std::int64_t version, Load load)
      : node_(node), attributes_(std::move(attributes)), version_(version), load_(std::move(load)) {}

  /// The version of the operator set that the node comes from.
  std::int64_t version() const noexcept { return version_; }
  std::size_t inputs() const noexcept { return node_.inputs.size(); }
  std::size_t outputs() const noexcept { return node_.outputs.size(); }
  bool has_input(std::size_t i) const noexcept { return i < inputs() && !node_.inputs[i].empty(); }
  bool has_output(std::size_t i) const noexcept { return i < outputs() && !node_.outputs[i].empty(); }

  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t otherwise);
  double real(std::string_view name, double otherwise);
  std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> otherwise = {});
  std::vector<double> reals(std::string_view name, std::vector<double> otherwise);
  std::string text(std::string_view name, const char* otherwise);
  /// Undefined without the attribute.
  graph::Datum tensor(std::string_view name);

  /// Refuses inputs that are missing or too many, and more outputs than the op computes here.
  void check_counts(std::size_t least_inputs, std::size_t most_inputs, std::size_t most_outputs = 1) const;
  /// Refuses attributes that no one asked for.
  void check_all_known() const;

 private:
  const file::Attribute* find(std::string_view name) const;
  const file::Attribute* take(std::string_view name, file::Attribute::Kind kind);

  const file::Node& node_;
  std::vector<file::Attribute> attributes_;
  std::int64_t version_;
  Load load_;
  std::set<std::string_view> known_;
};

struct Row {
  const char* name;
  std::int64_t first, last;  ///< Versions of the operator set.
  graph::Run (*build)(Call& call);
  const char* domain = "";  ///< ai.onnx is "".
};

/// Each family of ops is a list in a file of its own.
std::vector<Row> pointwise_rows();
std::vector<Row> activation_rows();
std::vector<Row> network_rows();
std::vector<Row> shape_rows();
std::vector<Row> reduce_rows();
std::vector<Row> select_rows();
std::vector<Row> bit_rows();
std::vector<Row> index_rows();
std::vector<Row> algebra_rows();
std::vector<Row> random_rows();
std::vector<Row> feature_rows();

/// All of them.
const std::vector<Row>& all_rows();

/// The row of an op of a domain in a version; null if there is none.
const Row* find_row(std::string_view domain, std::string_view op, std::int64_t version);
/// The versions of an op that rows cover, as "7 to 28"; empty if there is none.
std::string versions_of(std::string_view domain, std::string_view op);

}  // namespace crisol::onnx
