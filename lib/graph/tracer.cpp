#include "graph/tracer.h"

#include <algorithm>

#include "base/text.h"
#include "graph/passes/passes.h"
#include "ops/index/indexing.h"

namespace crisol::graph {

Tracer::Tracer(const NamedTensors& state) {
  require(current_trace() == nullptr, op_name, "a function that is traced cannot trace another one");
  for (const auto& [name, tensor] : state) {
    if (find(tensor) != nullptr) continue;  // A tied parameter keeps the first of its names.
    const Value value = add_value(name, tensor);
    is_known_.back() = true;
    is_given_.back() = true;
    bind(tensor, value);
    graph_.weights.push_back(value);
    weights_.push_back(tensor);
  }
  thread_context().trace = this;
}

Tracer::~Tracer() {
  thread_context().trace = nullptr;
  for (const auto& [place, written] : written_) weights_[place].copy_from(written.before);
}

Tracer::Key Tracer::key_of(const Tensor& x) {
  const TensorImpl& impl = *x.impl();
  Key key{static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(impl.storage.get())), impl.offset,
          static_cast<std::int64_t>(impl.dtype)};
  for (int i = 0; i < impl.shape.rank(); ++i) {
    key.push_back(impl.shape[i]);
    key.push_back(impl.shape[i] == 1 ? 0 : impl.strides[i]);
  }
  return key;
}

const Tracer::Bound* Tracer::find(const Tensor& x) const {
  const auto found = bound_.find(key_of(x));
  if (found == bound_.end()) return nullptr;
  return found->second.version == x.impl()->storage->version.load() ? &found->second : nullptr;
}

Tracer::Value Tracer::add_value(std::string name, const Tensor& of) {
  graph_.values.push_back({std::move(name), {}, {}});
  is_known_.push_back(false);
  is_given_.push_back(false);
  const Value value = static_cast<Value>(graph_.values.size()) - 1;
  if (of.defined()) name_after(value, of);
  return value;
}

void Tracer::name_after(Value value, const Tensor& x) {
  graph_.values[at(value)].dtype = x.dtype();
  graph_.values[at(value)].shape = sizes_of(x.shape());
}

void Tracer::add_input(const Tensor& x, const std::string& name) {
  const Value value = add_value(name, x);
  is_given_.back() = true;
  graph_.inputs.push_back(value);
  set(x, value);
}

void Tracer::add_output(const Tensor& y, const std::string& name) {
  // An output gets a node of its own, because it has a name of its own.
  const Value value = node(Op::identity, {of(y)});
  graph_.values[at(value)].name = name;
  name_after(value, y);
  graph_.outputs.push_back(value);
}

void Tracer::add_states() {
  for (const auto& [place, written] : written_) {
    graph_.inputs.push_back(graph_.weights[place]);
    graph_.outputs.push_back(written.value);
    graph_.states.push_back(weights_[place]);
  }
}

void Tracer::check_versions(const std::vector<bool>& used, bool has_states) const {
  const auto name = [&](Value value) { return graph_.values[at(value)].name; };
  for (const auto& [key, bound] : bound_) {
    if (bound.version == bound.storage->version.load()) continue;
    const std::optional<std::size_t> place = weight_of(bound.storage.get());
    if (has_states && place) {
      require(key != key_of(weights_[*place]), op_name, "the function writes to ", name(graph_.weights[*place]),
              " in a way that a graph does not have");
      continue;  // The view has the elements from before a write.
    }
    // Constants and weights are read after the run. So they must still have the values that they had during the run.
    require(!used[at(bound.value)] || !is_given_[at(bound.value)] || !is_known_[at(bound.value)], op_name,
            "the function reads ", name(bound.value), " and writes to it later; a graph has no such step");
  }
  for (const auto& [place, written] : written_)
    require(has_states || !used[at(graph_.weights[place])], op_name, "the function reads ", name(graph_.weights[place]),
            " and writes to it later; a graph has no such step");
}

std::pair<Graph, std::vector<Tensor>> Tracer::finish(bool has_states) {
  if (has_states) add_states();
  remove_dead_nodes(graph_, Device());
  std::vector<bool> used(graph_.values.size());
  for (const Node& node : graph_.nodes)
    for (const int input : node.inputs)
      if (input != absent) used[at(input)] = true;
  for (const int output : graph_.outputs) used[at(output)] = true;
  check_versions(used, has_states);
  std::vector<int> weights;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (!used[at(graph_.weights[i])] || (has_states && written_.count(i) > 0)) continue;
    weights.push_back(graph_.weights[i]);
    tensors.push_back(weights_[i]);
  }
  graph_.weights = std::move(weights);
  return {std::move(graph_), std::move(tensors)};
}

Tracer::Value Tracer::of(const Tensor& x) {
  if (!x.defined()) return Trace::absent;
  if (const Bound* bound = find(x)) return bound->value;
  if (const Value part = value_of_part(x); part != absent) return part;
  const Storage* storage = x.impl()->storage.get();
  require(bound_.count(key_of(x)) == 0, op_name, "a tensor of shape ", x.shape(),
          " was written to after it was made; a graph has no such step");
  const auto maker = makers_.find(storage);
  if (maker != makers_.end())
    fail(ErrorCode::invalid_argument, op_name, "a tensor of shape ", x.shape(), " comes from ", maker->second.first,
         ", which no graph has");
  const bool is_view = std::any_of(bound_.begin(), bound_.end(),
                                   [&](const auto& entry) { return entry.second.storage.get() == storage; });
  require(!is_view, op_name, "a tensor of shape ", x.shape(), " is a view that no traced function made");
  add_constant(x, true);
  return find(x)->value;
}

void Tracer::set(const Tensor& x, Value value) {
  bound_[key_of(x)] = {value, x.impl()->storage->version.load(), x.impl()->storage};
  wholes_.try_emplace(x.impl()->storage.get(), x);
}

Tracer::Value Tracer::numbers(std::vector<std::int64_t> values) {
  const Shape shape(static_cast<std::int64_t>(values.size()));
  const Value value = add_value(concat("numbers_", graph_.values.size()), Tensor());
  graph_.values[at(value)].dtype = DType::i64;
  graph_.constants.emplace_back(value, Datum(std::move(values), shape));
  is_known_[at(value)] = true;
  return value;
}

Tracer::Value Tracer::number(const Scalar& value, DType dtype, Device device) {
  const PauseTrace pause;
  if (dtype == DType::i64) {
    // The number is on the host, because it may be an axis.
    const Value made = add_value(concat("number_", graph_.values.size()), Tensor());
    graph_.values[at(made)].dtype = dtype;
    graph_.constants.emplace_back(made, Datum({value.as_int()}, Shape(), dtype));
    is_known_[at(made)] = true;
    return made;
  }
  const Tensor tensor = full({}, value, dtype, device);
  const Value made = add_value(concat("number_", graph_.values.size()), tensor);
  graph_.constants.emplace_back(made, tensor);
  is_known_[at(made)] = true;
  return made;
}

std::vector<Tracer::Value> Tracer::node(GraphOp op, std::vector<Value> inputs, Attributes attributes, int outputs) {
  const bool known = std::all_of(inputs.begin(), inputs.end(),
                                 [&](Value input) { return input == Trace::absent || is_known_[at(input)]; });
  const std::string name = concat(name_of(op), '_', graph_.nodes.size());
  std::vector<Value> values;
  for (int i = 0; i < outputs; ++i) {
    values.push_back(add_value(concat(name, "_output_", i), Tensor()));
    is_known_.back() = known;
    // Until the value is that of a tensor.
    if (op == GraphOp::cast)
      graph_.values.back().dtype = static_cast<DType>(std::get<std::int64_t>(attributes.at("dtype")));
    else if (op == GraphOp::argmax || op == GraphOp::argmin)
      graph_.values.back().dtype = DType::i64;
    else if (!inputs.empty() && inputs[0] != Trace::absent)
      graph_.values.back().dtype = graph_.values[at(inputs[0])].dtype;
  }
  Node& node = graph_.nodes.emplace_back();
  node.name = name;
  node.op = op;
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.outputs = values;
  return values;
}

void Tracer::bind(const Tensor& x, Value value) {
  if (find(x) != nullptr) return;
  set(x, value);
  if (!graph_.values[at(value)].shape) name_after(value, x);
}

std::optional<std::size_t> Tracer::weight_of(const Storage* storage) const {
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (weights_[i].impl()->storage.get() == storage) return i;
  return {};
}

std::set<Tracer::Value> Tracer::values_behind(Value value) const {
  std::set<Value> all{value};
  for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node)
    if (std::any_of(node->outputs.begin(), node->outputs.end(), [&](Value output) { return all.count(output) > 0; }))
      all.insert(node->inputs.begin(), node->inputs.end());
  return all;
}

void Tracer::bind_constant(const Tensor& x) { add_constant(x, false); }

void Tracer::add_constant(const Tensor& x, bool is_given) {
  const Value value = add_value(concat("constant_", graph_.values.size()), x);
  is_known_.back() = true;
  is_given_.back() = is_given;
  graph_.constants.emplace_back(value, x);
  bind(x, value);
}

void Tracer::made(const char* op, const Tensor& x) {
  for (; named_ < graph_.nodes.size(); ++named_) graph_.nodes[named_].fault = ops::fault_number(op);
  if (find(x) == nullptr) makers_[x.impl()->storage.get()] = {op, x.impl()->storage};
}

void Tracer::read(const Tensor& x) {
  const Value value = of(x);
  const std::set<Value> values = values_behind(value);
  const bool is_of_state = std::any_of(written_.begin(), written_.end(), [&](const auto& written) {
    return values.count(graph_.weights[written.first]) > 0;
  });
  require(is_known_[at(value)] && !is_of_state, op_name, "the function reads the elements of a tensor of shape ",
          x.shape(), " on the host, and they depend on an input or on a tensor that it writes");
  read_.insert(values.begin(), values.end());
}

}  // namespace crisol::graph
