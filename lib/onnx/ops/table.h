// The ops of ONNX that the library computes: a row for each, with the versions that it covers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "onnx/ops/call.h"

namespace crisol::onnx {

/// The newest version of ONNX's operator set that the rows were compared with.
constexpr std::int64_t newest_version = 28;
/// The domain of the ops of classical machine learning, and its newest version.
constexpr const char* ml_domain = "ai.onnx.ml";
constexpr std::int64_t newest_ml_version = 5;
/// The domain of gradients and optimizers, and its newest version.
constexpr const char* training_domain = "ai.onnx.preview.training";
constexpr std::int64_t newest_training_version = 1;

struct Row {
  const char* name;
  std::int64_t first, last;  ///< Versions of the operator set.
  /// Makes the function that runs a node. It makes none for nodes with bodies, and calls Call::set_control.
  graph::Run (*build)(Call& call);
  const char* domain = "";  ///< Empty for ONNX's own ops.
};

/// Each family of ops is a list in a file of its own.
std::vector<Row> pointwise_rows();
std::vector<Row> unary_rows();
std::vector<Row> activation_rows();
std::vector<Row> network_rows();
std::vector<Row> shape_rows();
std::vector<Row> reduce_rows();
std::vector<Row> select_rows();
std::vector<Row> pad_rows();
std::vector<Row> control_rows();
std::vector<Row> sequence_rows();
std::vector<Row> loss_rows();
std::vector<Row> attention_rows();
std::vector<Row> token_rows();
std::vector<Row> normalize_rows();
std::vector<Row> recurrent_rows();
std::vector<Row> signal_rows();
std::vector<Row> quantize_rows();
std::vector<Row> microsoft_rows();
std::vector<Row> nchwc_rows();
std::vector<Row> resize_rows();
std::vector<Row> vision_rows();
std::vector<Row> window_rows();
std::vector<Row> detection_rows();
std::vector<Row> bit_rows();
std::vector<Row> index_rows();
std::vector<Row> algebra_rows();
std::vector<Row> random_rows();
std::vector<Row> feature_rows();
std::vector<Row> training_rows();
std::vector<Row> tree_rows();
std::vector<Row> tree_ensemble_rows();
std::vector<Row> support_vector_rows();
std::vector<Row> linear_model_rows();
std::vector<Row> label_rows();

/// All of them.
const std::vector<Row>& all_rows();

/// The row of an op of a domain in a version; null if there is none.
const Row* find_row(std::string_view domain, std::string_view op, std::int64_t version);
/// The versions of an op that rows cover, as "7 to 28"; empty if there is none.
std::string versions_of(std::string_view domain, std::string_view op);

}  // namespace crisol::onnx
