// Notes the functions of one run as nodes of a graph.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "crisol/named_tensors.h"
#include "graph/graph.h"
#include "tensor/impl.h"

namespace crisol::graph {

class Tracer final : public Trace {
 public:
  /// The object notes this thread's functions as long as it lives.
  explicit Tracer(const NamedTensors& state);
  ~Tracer() override;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  void add_input(const Tensor& x, const std::string& name);
  void add_output(const Tensor& y, const std::string& name);
  /// The graph, and the tensors of its weights. With `has_states`, tensors of the state that the function writes become
  /// Graph::states. Otherwise such writes have no effect on the graph.
  std::pair<Graph, std::vector<Tensor>> finish(bool has_states);

  using Trace::node;
  Value of(const Tensor& x) override;
  Value numbers(std::vector<std::int64_t> values) override;
  Value number(const Scalar& value, DType dtype, Device device) override;
  std::vector<Value> node(GraphOp op, std::vector<Value> inputs, Attributes attributes, int outputs) override;
  void bind(const Tensor& x, Value value) override;
  void writes(const char* op, const Tensor& x) override;
  void replaces(const Tensor& x, const Tensor& y) override;
  void wrote(const Tensor& x) override;
  void bind_constant(const Tensor& x) override;
  void made(const char* op, const Tensor& x) override;
  void read(const Tensor& x) override;

 private:
  static constexpr const char* op_name = "trace";
  static std::size_t at(Value value) { return static_cast<std::size_t>(value); }

  /// Tensors with equal keys have the same elements.
  using Key = std::vector<std::int64_t>;
  struct Bound {
    Value value;
    std::uint64_t version;
    std::shared_ptr<const Storage> storage;  ///< Kept alive, so that no other storage gets its address.
  };
  /// A tensor of the state that the function writes.
  struct Written {
    Value value;    ///< The present one.
    Tensor before;  ///< A copy of the elements from before the trace, which come back at its end.
  };
  /// What the op that is writing at the moment makes of the written tensor, and of the tensor of which it is a part.
  struct Pending {
    Value value = absent;
    Value whole = absent;  ///< `absent` if the graph has no value for the other tensor.
  };
  static Key key_of(const Tensor& x);
  /// Null if the tensor has no value, or if it was written to afterwards.
  const Bound* find(const Tensor& x) const;
  /// The tensor of which x may be a view. Undefined if the trace knows none.
  Tensor whole_of(const Tensor& x) const;
  /// The value of a view, from the tensor of which it is a part. `absent` if there is none.
  Value value_of_part(const Tensor& x);
  void set(const Tensor& x, Value value);
  void add_constant(const Tensor& x, bool is_given);
  /// If the value, which `x` has, is a constant of the graph, gives the constant memory of its own.
  void keep_constant(Value value, const Tensor& x);
  /// The position among weights_ of the tensor of which x shows elements.
  std::optional<std::size_t> weight_of(const Storage* storage) const;
  /// The value and all values that it depends on.
  std::set<Value> values_behind(Value value) const;
  void add_states();
  /// Refuses tensors that the graph reads too late: the function has written them.
  void check_versions(const std::vector<bool>& used, bool has_states) const;
  Value add_value(std::string name, const Tensor& of);
  void name_after(Value value, const Tensor& x);

  Graph graph_;
  std::vector<Tensor> weights_;
  std::map<std::size_t, Written> written_;  ///< By the position among weights_.
  std::set<Value> read_;                    ///< Values that the host's reads depend on.
  std::size_t named_ = 0;                   ///< How many nodes know the function that they are of.
  std::map<Key, Bound> bound_;
  std::map<const Storage*, Tensor> wholes_;  ///< The first tensor of each storage.
  Pending pending_;
  std::map<const Storage*, std::pair<const char*, std::shared_ptr<const Storage>>> makers_;
  std::vector<bool> is_known_;  ///< For each value: whether it depends on no input.
  std::vector<bool> is_given_;  ///< For each value: whether it is of a tensor that is older than the trace.
};

}  // namespace crisol::graph
