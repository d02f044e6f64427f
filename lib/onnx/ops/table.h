// The table of ONNX ops that the library computes. A row has the versions of the op that it covers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "onnx/ops/call.h"

namespace crisol::onnx {

/// The newest version of ONNX's operator set with which the rows were compared.
constexpr std::int64_t newest_version = 28;
/// The domain of ops for classical machine learning, and its newest version.
constexpr const char* ml_domain = "ai.onnx.ml";
constexpr std::int64_t newest_ml_version = 5;
/// The domain of ops for gradients and optimizers, and its newest version.
constexpr const char* training_domain = "ai.onnx.preview.training";
constexpr std::int64_t newest_training_version = 1;

struct Row {
  const char* name;
  std::int64_t first, last;  ///< The versions of the operator set, from first to last.
  /// Makes the function that runs a node. For nodes with bodies it makes none, and calls Call::set_control instead.
  graph::Run (*build)(Call& call);
  const char* domain = "";    ///< Empty for ONNX's own ops.
  bool computes_f64 = false;  ///< Whether nodes compute f64 as it is. table.cpp sets it for a family.
};

/// The rows of each family of ops, each in a file of its own.
std::vector<Row> pointwise_rows();
std::vector<Row> unary_rows();
std::vector<Row> activation_rows();
std::vector<Row> network_rows();
std::vector<Row> product_rows();
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
std::vector<Row> quantized_node_rows();
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
std::vector<Row> label_encoder_rows();

/// All rows.
const std::vector<Row>& all_rows();

/// The row of an op in a domain and version. Null if there is none.
const Row* find_row(std::string_view domain, std::string_view op, std::int64_t version);
/// Whether nodes of an op compute f64 as it is. True for a name that no row has.
bool computes_f64(std::string_view domain, std::string_view op);
/// The versions of an op that rows cover, such as "7 to 28". Empty if no row has the op.
std::string versions_of(std::string_view domain, std::string_view op);

}  // namespace crisol::onnx
