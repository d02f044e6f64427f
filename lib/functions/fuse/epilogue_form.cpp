#include "functions/fuse/epilogue_form.h"

#include <algorithm>

#include "base/text.h"
#include "ops/pointwise/pointwise_source.h"

namespace crisol::detail {

namespace {

using ops::PointwiseGraph;
using ops::ProductEpilogue;
using Kind = PointwiseGraph::Kind;

const char* refuse(const Formula& formula) {
  const FusedGraph& fused = formula.fused;
  if (fused.outputs.size() != 1 || formula.trailing[0].kind != Trailing::Kind::none) return "it has reduced results";
  if (fused.graph[fused.outputs[0]].type.dtype != DType::f32) return "its result is not f32";
  if (fused.tensors[0].index != 0) return "it does not read the product";
  if (fused.tensors.size() > 1 + ProductEpilogue::max_operands) return "it reads more than two tensors";
  if (fused.scalars.size() > ProductEpilogue::max_scalars) return "it has more than eight numbers";
  for (const PointwiseGraph::Node& node : fused.graph.nodes())
    if (node.kind == Kind::input && node.type.dtype != DType::f32) return "it reads a tensor that is not f32";
  return nullptr;
}

// Whether the node adds the product and another tensor.
bool adds_tensor(const PointwiseGraph& graph, int node) {
  const PointwiseGraph::Node& sum = graph[node];
  if (sum.kind != Kind::apply || sum.row != &ops::rows::add) return false;
  const PointwiseGraph::Node &a = graph[sum.operands[0]], &b = graph[sum.operands[1]];
  return a.kind == Kind::input && b.kind == Kind::input && a.index != b.index;
}

ProductEpilogue::Form recognise(const FusedGraph& fused) {
  const PointwiseGraph& graph = fused.graph;
  int value = fused.outputs[0];
  const bool relu = graph[value].kind == Kind::apply && graph[value].row == &ops::rows::relu;
  if (relu) value = graph[value].operands[0];
  if (graph[value].kind == Kind::input && graph[value].index == 0)
    return relu ? ProductEpilogue::Form::relu : ProductEpilogue::Form::none;
  if (adds_tensor(graph, value)) return relu ? ProductEpilogue::Form::add_relu : ProductEpilogue::Form::add;
  return ProductEpilogue::Form::generic;
}

// Makes the macros that ops/product/epilogue.h describes, for all vector widths of the kernels.
std::string prelude_of(const FusedGraph& fused) {
  PointwiseGraph graph = fused.graph;
  graph.output(fused.outputs[0]);
  std::string text = ops::includes_of(graph);
  text += concat("#define EPILOGUE_OPERANDS ", fused.tensors.size() - 1, "\n#define EPILOGUE_SCALARS ",
                 fused.scalars.size(), "\n#define EPILOGUE_OF(W, name) \\\n");
  text += ops::function_of(graph, "name##_graph", "##W");
  text.insert(text.size() - 1, " \\");  // A backslash, because the macro continues on the next line.
  std::string arguments = "v";
  for (std::size_t i = 1; i < fused.tensors.size(); ++i) arguments += concat(", e", i - 1);
  for (std::size_t i = 0; i < fused.scalars.size(); ++i) arguments += concat(", s.s", i);
  text += concat(
      "INLINE float##W name(const float##W v, const float##W e0, const float##W e1, const float8 s) { \\\n"
      "  float##W y; \\\n  name##_graph(",
      arguments, ", &y); \\\n  return y; \\\n}\n");
  text += "#define EPILOGUE(T, name) EPILOGUE_##T(name)\n#define EPILOGUE_float(name) EPILOGUE_OF(, name)\n";
  for (const int width : {2, 4, 8, 16})
    text += concat("#define EPILOGUE_float", width, "(name) EPILOGUE_OF(", width, ", name)\n");
  return text;
}

}  // namespace

EpilogueForm epilogue_form_of(const Formula& formula) {
  EpilogueForm result;
  result.refusal = refuse(formula);
  if (result.refusal != nullptr) return result;
  const FusedGraph& fused = formula.fused;
  result.form = recognise(fused);
  for (std::size_t i = 1; i < fused.tensors.size(); ++i) result.operands.push_back(fused.tensors[i].index);
  result.scalars = fused.scalars;
  if (result.form == ProductEpilogue::Form::generic) result.prelude = prelude_of(fused);
  return result;
}

}  // namespace crisol::detail
