// What a function that is traced writes.
#include "base/text.h"
#include "graph/region.h"
#include "graph/tracer.h"

namespace crisol::graph {

Tensor Tracer::whole_of(const Tensor& x) const {
  if (const std::optional<std::size_t> place = weight_of(x.impl()->storage.get())) return weights_[*place];
  const auto found = wholes_.find(x.impl()->storage.get());
  return found == wholes_.end() ? Tensor() : found->second;
}

Tracer::Value Tracer::value_of_part(const Tensor& x) {
  const Tensor whole = whole_of(x);
  if (!whole.defined() || key_of(whole) == key_of(x) || find(whole) == nullptr) return absent;
  const std::optional<Region> region = Region::of(x, whole);
  if (!region) return absent;
  const Value value = of(region->take(whole));
  set(x, value);
  return value;
}

void Tracer::writes(const char* op, const Tensor& x) {
  const std::optional<std::size_t> place = weight_of(x.impl()->storage.get());
  if (!place) return made(op, x);
  const Value weight = graph_.weights[*place];
  const std::string& name = graph_.values[at(weight)].name;
  const Tensor& whole = weights_[*place];
  require(key_of(x) == key_of(whole) || Region::of(x, whole), op_name, op, " writes to a part of ", name,
          " that is no slice of it, and a graph has no such step; use index_put_ with tensors of positions");
  require(read_.count(weight) == 0, op_name, op, " writes to ", name,
          ", whose elements the function reads on the host");
  if (written_.count(*place) > 0) return;
  const PauseTrace pause;
  written_[*place] = {weight, whole.clone()};
}

void Tracer::replaces(const Tensor& x, const Tensor& y) {
  pending_ = {of(y), absent};
  const Tensor whole = whole_of(x);
  const Bound* const bound = whole.defined() ? find(whole) : nullptr;
  // A graph cannot write to a tensor that is older than the trace and no part of the state.
  if (bound == nullptr || (is_given_[at(bound->value)] && !weight_of(x.impl()->storage.get()))) return;
  keep_constant(bound->value, whole);
  if (key_of(x) == key_of(whole)) {
    pending_.whole = pending_.value;
  } else if (const std::optional<Region> region = Region::of(x, whole)) {
    pending_.whole = of(region->replace(whole, y));
  }
}

void Tracer::wrote(const Tensor& x) {
  if (pending_.whole == absent) return;  // Who reads the tensor later gets an error.
  if (const std::optional<std::size_t> place = weight_of(x.impl()->storage.get()))
    written_[*place].value = pending_.whole;
  set(whole_of(x), pending_.whole);
  set(x, pending_.value);
}

void Tracer::keep_constant(Value value, const Tensor& x) {
  const PauseTrace pause;
  for (auto& [constant, datum] : graph_.constants)
    if (constant == value && !datum.on_host()) datum = x.clone();
}

}  // namespace crisol::graph
