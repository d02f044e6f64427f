// A survey of a model: which nodes would be refused.
#include "base/text.h"
#include "onnx/importer.h"
#include "onnx/ops/element_types.h"

namespace crisol::onnx {

using file::ElementType;
using file::in_quotes;

std::vector<RefusedNode> Importer::survey() {
  std::vector<RefusedNode> refused;
  refused_ = &refused;
  NameScope scope{.level = &model_, .operator_sets = &file_.model().operator_sets};
  add_graph(scope, file_.model().graph, nullptr);
  return refused;
}

void Importer::note_if_refused(const NameScope& scope, const file::Node& node, std::size_t position,
                               const Faults& before) {
  if (refused_ == nullptr || scope.calls > 0 || scope.bodies > 0) return;
  std::string reason;
  for (const auto* names : {&node.inputs, &node.outputs})
    for (const std::string_view name : *names)
      if (const auto type = scope.types.find(name);
          type != scope.types.end() &&
          (!dtype_of(type->second->element) || (narrows_ && type->second->element == ElementType::f64)))
        reason = concat("the value ", in_quotes(name), " is of ", name_of(type->second->element));
  if (narrowed_.size() > before.narrowed) reason = "f64 would be computed in f32";
  if (problems_.added() > before.problems) reason = problems_.last();
  if (!reason.empty()) refused_->push_back({position, std::move(reason)});
}

}  // namespace crisol::onnx
