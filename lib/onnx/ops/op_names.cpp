#include "onnx/ops/op_names.h"

#include <map>

namespace crisol::onnx {

namespace {

struct NamedOp {
  GraphOp op;
  std::string_view name;
};

/// The ops of graphs that ONNX has as one op.
constexpr NamedOp all_ops[] = {
    {GraphOp::abs, "Abs"},
    {GraphOp::acos, "Acos"},
    {GraphOp::acosh, "Acosh"},
    {GraphOp::add, "Add"},
    {GraphOp::logical_and, "And"},
    {GraphOp::argmax, "ArgMax"},
    {GraphOp::argmin, "ArgMin"},
    {GraphOp::asin, "Asin"},
    {GraphOp::asinh, "Asinh"},
    {GraphOp::atan, "Atan"},
    {GraphOp::atanh, "Atanh"},
    {GraphOp::attention, "Attention"},
    {GraphOp::avg_pool, "AveragePool"},
    {GraphOp::batch_norm, "BatchNormalization"},
    {GraphOp::bitwise_and, "BitwiseAnd"},
    {GraphOp::bitwise_not, "BitwiseNot"},
    {GraphOp::bitwise_or, "BitwiseOr"},
    {GraphOp::bitwise_xor, "BitwiseXor"},
    {GraphOp::cast, "Cast"},
    {GraphOp::cast_like, "CastLike"},
    {GraphOp::ceil, "Ceil"},
    {GraphOp::celu, "Celu"},
    {GraphOp::cat, "Concat"},
    {GraphOp::conv, "Conv"},
    {GraphOp::conv_transpose, "ConvTranspose"},
    {GraphOp::cos, "Cos"},
    {GraphOp::cosh, "Cosh"},
    {GraphOp::cumsum, "CumSum"},
    {GraphOp::div, "Div"},
    {GraphOp::dropout, "Dropout"},
    {GraphOp::elu, "Elu"},
    {GraphOp::eq, "Equal"},
    {GraphOp::erf, "Erf"},
    {GraphOp::exp, "Exp"},
    {GraphOp::expand, "Expand"},
    {GraphOp::flatten, "Flatten"},
    {GraphOp::floor, "Floor"},
    {GraphOp::index_select, "Gather"},
    {GraphOp::gather, "GatherElements"},
    {GraphOp::gelu, "Gelu"},
    {GraphOp::global_avg_pool, "GlobalAveragePool"},
    {GraphOp::gt, "Greater"},
    {GraphOp::ge, "GreaterOrEqual"},
    {GraphOp::grid_sample, "GridSample"},
    {GraphOp::group_norm, "GroupNormalization"},
    {GraphOp::hard_sigmoid, "HardSigmoid"},
    {GraphOp::hard_swish, "HardSwish"},
    {GraphOp::identity, "Identity"},
    {GraphOp::if_, "If"},
    {GraphOp::instance_norm, "InstanceNormalization"},
    {GraphOp::isinf, "IsInf"},
    {GraphOp::isnan, "IsNaN"},
    {GraphOp::layer_norm, "LayerNormalization"},
    {GraphOp::leaky_relu, "LeakyRelu"},
    {GraphOp::lt, "Less"},
    {GraphOp::le, "LessOrEqual"},
    {GraphOp::log, "Log"},
    {GraphOp::log_softmax, "LogSoftmax"},
    {GraphOp::matmul, "MatMul"},
    {GraphOp::maximum, "Max"},
    {GraphOp::max_pool, "MaxPool"},
    {GraphOp::minimum, "Min"},
    {GraphOp::mish, "Mish"},
    {GraphOp::mul, "Mul"},
    {GraphOp::neg, "Neg"},
    {GraphOp::logical_not, "Not"},
    {GraphOp::logical_or, "Or"},
    {GraphOp::prelu, "PRelu"},
    {GraphOp::pad, "Pad"},
    {GraphOp::pow, "Pow"},
    {GraphOp::reciprocal, "Reciprocal"},
    {GraphOp::l1_norm, "ReduceL1"},
    {GraphOp::l2_norm, "ReduceL2"},
    {GraphOp::logsumexp, "ReduceLogSumExp"},
    {GraphOp::max, "ReduceMax"},
    {GraphOp::mean, "ReduceMean"},
    {GraphOp::min, "ReduceMin"},
    {GraphOp::prod, "ReduceProd"},
    {GraphOp::sum, "ReduceSum"},
    {GraphOp::relu, "Relu"},
    {GraphOp::reshape, "Reshape"},
    {GraphOp::enlarge, "Resize"},
    {GraphOp::round, "Round"},
    {GraphOp::scatter, "ScatterElements"},
    {GraphOp::selu, "Selu"},
    {GraphOp::shape, "Shape"},
    {GraphOp::sigmoid, "Sigmoid"},
    {GraphOp::sign, "Sign"},
    {GraphOp::sin, "Sin"},
    {GraphOp::sinh, "Sinh"},
    {GraphOp::size, "Size"},
    {GraphOp::slice, "Slice"},
    {GraphOp::softmax, "Softmax"},
    {GraphOp::softplus, "Softplus"},
    {GraphOp::split, "Split"},
    {GraphOp::sqrt, "Sqrt"},
    {GraphOp::squeeze, "Squeeze"},
    {GraphOp::sub, "Sub"},
    {GraphOp::tan, "Tan"},
    {GraphOp::tanh, "Tanh"},
    {GraphOp::topk, "TopK"},
    {GraphOp::permute, "Transpose"},
    {GraphOp::triangle, "Trilu"},
    {GraphOp::unsqueeze, "Unsqueeze"},
    {GraphOp::where, "Where"},
    {GraphOp::logical_xor, "Xor"},
};

/// The names of ops that passes make.
constexpr NamedOp made_ops[] = {
    {GraphOp::from_blocks, "FromBlocks"}, {GraphOp::fused, "Fused"}, {GraphOp::to_blocks, "ToBlocks"}};

}  // namespace

GraphOp op_of_name(std::string_view name) {
  static const auto ops = [] {
    std::map<std::string_view, GraphOp> by_name;
    for (const NamedOp& one : all_ops) by_name.emplace(one.name, one.op);
    return by_name;
  }();
  const auto found = ops.find(name);
  return found == ops.end() ? GraphOp::other : found->second;
}

std::string_view onnx_name(GraphOp op) {
  static const auto names = [] {
    std::map<GraphOp, std::string_view> by_op;
    for (const NamedOp& one : all_ops) by_op.emplace(one.op, one.name);
    for (const NamedOp& one : made_ops) by_op.emplace(one.op, one.name);
    return by_op;
  }();
  const auto found = names.find(op);
  return found == names.end() ? crisol::name_of(op) : found->second;
}

std::string_view onnx_name(const graph::Node& node) {
  return node.op == GraphOp::other ? node.other_op : onnx_name(node.op);
}

}  // namespace crisol::onnx
