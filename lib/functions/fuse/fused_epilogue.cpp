// Converts a formula to the epilogue of a product's kernel.
#include <algorithm>

#include "base/byte_dtype.h"
#include "base/interned_text.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "functions/fuse/fused_op.h"
#include "ops/pointwise/pointwise_source.h"

namespace crisol::detail {

namespace {

using ops::PointwiseGraph;
using Function = ops::EpilogueLayout::Function;
using Kind = PointwiseGraph::Kind;

// The kernels read tensors of the product's type, and the product among them. They compute in f32. Next to a product of
// bytes they read f32, to which other bytes are converted.
bool is_taken(const Formula& formula) {
  const FusedGraph& fused = formula.fused;
  if (fused.outputs.size() != 1 || formula.trailing[0].kind != Trailing::Kind::none) return false;
  if (fused.tensors[0].index != 0 || fused.tensors.size() > 1 + ops::EpilogueLayout::max_operands ||
      fused.scalars.size() > ops::EpilogueLayout::max_scalars)
    return false;
  const auto& nodes = fused.graph.nodes();
  const DType dtype = fused.graph[fused.outputs[0]].type.dtype;
  const bool of_bytes = is_of_bytes(dtype);
  return (of_bytes || value_type(dtype) == DType::f32) &&
         std::all_of(nodes.begin(), nodes.end(), [=](const PointwiseGraph::Node& node) {
           if (node.kind != Kind::input || node.type.dtype == dtype) return true;
           return of_bytes && node.index != 0 && (is_of_bytes(node.type.dtype) || node.type.dtype == DType::f32);
         });
}

// Whether the node adds the product and another tensor.
bool adds_tensor(const PointwiseGraph& graph, int node) {
  const PointwiseGraph::Node& sum = graph[node];
  if (sum.kind != Kind::apply || sum.row != &ops::rows::add) return false;
  const PointwiseGraph::Node &a = graph[sum.operands[0]], &b = graph[sum.operands[1]];
  return a.kind == Kind::input && b.kind == Kind::input && a.index != b.index;
}

Function recognise(const FusedGraph& fused) {
  const PointwiseGraph& graph = fused.graph;
  int value = fused.outputs[0];
  const bool relu = graph[value].kind == Kind::apply && graph[value].row == &ops::rows::relu;
  if (relu) value = graph[value].operands[0];
  if (graph[value].kind == Kind::input && graph[value].index == 0) return relu ? Function::relu : Function::none;
  if (adds_tensor(graph, value)) return relu ? Function::add_relu : Function::add;
  return Function::generic;
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
  // Registers of bytes are ints.
  std::string arguments;
  for (std::size_t i = 0; i < fused.tensors.size(); ++i) {
    const std::string x = i == 0 ? "v" : concat("e", i - 1);
    arguments += i == 0 ? "" : ", ";
    arguments += is_of_bytes(graph.input_dtype(i)) ? concat("convert_int##W(", x, ")") : x;
  }
  const bool gives_bytes = is_of_bytes(graph.output_dtype(0));
  for (std::size_t i = 0; i < fused.scalars.size(); ++i) arguments += concat(", s.s", i);
  text += concat(
      "INLINE float##W name(const float##W v, const float##W e0, const float##W e1, const float8 s) { \\\n"
      "  ",
      gives_bytes ? "int" : "float", "##W y; \\\n  name##_graph(", arguments, ", &y); \\\n  return ",
      gives_bytes ? "convert_float##W(y)" : "y", "; \\\n}\n");
  text += "#define EPILOGUE(T, name) EPILOGUE_##T(name)\n#define EPILOGUE_float(name) EPILOGUE_OF(, name)\n";
  for (const int width : {2, 4, 8, 16})
    text += concat("#define EPILOGUE_float", width, "(name) EPILOGUE_OF(", width, ", name)\n");
  return text;
}

}  // namespace

const std::optional<ops::EpilogueLayout>& FusedOp::epilogue() const {
  const std::lock_guard lock(mutex_);
  if (epilogue_) return *epilogue_;
  epilogue_.emplace();
  if (!is_taken(formula_)) return *epilogue_;
  const FusedGraph& fused = formula_.fused;
  ops::EpilogueLayout layout{.function = recognise(fused),
                             .operand_count = static_cast<std::int64_t>(fused.tensors.size()) - 1};
  if (layout.is_generic()) layout.snippet = intern(prelude_of(fused));
  *epilogue_ = layout;
  return *epilogue_;
}

}  // namespace crisol::detail
