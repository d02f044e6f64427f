// A node during its import: its attributes, and what is known before a run about its inputs and outputs.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "crisol/dtype_table.h"
#include "graph/graph.h"
#include "onnx/reader/model.h"

namespace crisol::onnx {

/// The attributes of a node of a graph.
using Attributes = std::map<std::string, graph::Attribute>;

/// The known facts about several values. Their names are empty.
using Values = std::vector<graph::Value>;

/// The known facts about an op's result if its inputs are broadcast: the element type of input `k`, and the common
/// shape.
graph::Value broadcast(const Values& inputs, std::size_t k = 0);
/// A tensor of which only the element type and the number of axes are known.
graph::Value value_of(std::optional<DType> dtype, std::optional<int> rank = {});

/// A node as a builder sees it. A builder makes the function that runs the node. Every fault throws Error
/// (invalid_argument) with "[onnx] …", and the importer adds the node's name.
///
/// A builder refuses element types and numbers of axes that the library does not support (require_dtype, require_rank),
/// and says what the outputs are (gives). So a model is refused when it is loaded, and not when it runs.
class Call {
 public:
  /// An attribute with the name that it has in the node. If the node is in a function, the value may come from the
  /// function's call.
  struct Attribute {
    std::string_view name;
    const file::Attribute* value;
  };
  /// The part of the importer that builders use.
  class Context {
   public:
    /// Reads a tensor of the file.
    virtual graph::Datum load(const file::TensorProto& tensor) = 0;
    /// The texts for a tensor of texts, whose numbers are positions in this list. Null for numbers.
    virtual graph::Texts texts_of(const file::TensorProto& tensor) = 0;
    /// The value that the file stores, or undefined if nodes compute it.
    virtual graph::Datum stored(int place) = 0;
    /// The file's description of an output, including its sizes.
    virtual graph::Value declared(std::size_t output) = 0;
    /// Makes a graph the next body of the node. `inputs` are the known facts about the graph's inputs. Returns the
    /// known facts about its outputs.
    virtual Values add_body(const file::Graph& graph, const Values& inputs) = 0;
    /// Makes a part of the graph the next body of the node: the part that computes the value `y` from the values
    /// `from`.
    virtual void add_part(const std::string& y, const std::vector<std::string>& from) = 0;

    /// Finds the nodes of an op in the model. Returns the shapes of their weights (second inputs) that the file stores.
    virtual const std::vector<std::vector<std::int64_t>>& weights_of(std::string_view domain, std::string_view op) = 0;

   protected:
    ~Context() = default;
  };

  /// A position in `places` is graph::absent if the input is left out.
  Call(const file::Node& node, std::vector<Attribute> attributes, std::int64_t version, const std::vector<int>& places,
       Values inputs, Context& context);

  /// The version of the operator set to which the node belongs.
  std::int64_t version() const noexcept { return version_; }
  /// Treats the node as a node of another version.
  void use_version(std::int64_t version) noexcept { version_ = version; }
  std::size_t inputs() const noexcept { return node_.inputs.size(); }
  std::size_t outputs() const noexcept { return node_.outputs.size(); }
  bool has_input(std::size_t i) const noexcept { return i < inputs() && places_[i] != graph::absent; }
  bool has_output(std::size_t i) const noexcept { return i < outputs() && !node_.outputs[i].empty(); }

  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t otherwise);
  double real(std::string_view name, double otherwise);
  std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> otherwise = {});
  std::vector<double> reals(std::string_view name, std::vector<double> otherwise = {});
  std::string text(std::string_view name, const char* otherwise);
  std::vector<std::string> texts(std::string_view name);
  /// A text that must be one of `allowed`. The default is the first of them.
  std::string text_of(std::string_view name, std::initializer_list<const char*> allowed);
  /// Undefined if the attribute is missing.
  graph::Datum tensor(std::string_view name);
  /// The elements of a tensor of texts. Empty if the attribute is missing, or if it has numbers.
  std::vector<std::string> texts_of_tensor(std::string_view name);
  /// Null if the attribute is missing.
  const file::Type* type(std::string_view name);

  /// Accepts attributes with any values, because they do not change the result.
  void ignore(std::initializer_list<std::string_view> names) { known_.insert(names.begin(), names.end()); }

  /// Sets the attributes of the graph's node, which passes read (lib/tensor/graph_ops.def).
  void describe(Attributes attributes) { described_ = std::move(attributes); }
  /// Declares that graphs have no op for what this node computes, although they have one for the newest version of the
  /// node's op or for other attributes.
  void differs() noexcept { differs_ = true; }

  /// Imports the graph of an attribute as the node's next body. Throws if the graph has another number of inputs.
  /// Returns the known facts about the graph's outputs.
  Values body(std::string_view name, const Values& inputs);
  /// Makes a part of the graph the node's next body: the part that computes the value `y` from the values `from`. The
  /// values `from` are the body's inputs. Throws for a value that nothing before the node makes, and for a `y` that
  /// depends on none of `from`.
  void part(const std::string& y, const std::vector<std::string>& from) { context_.add_part(y, from); }
  /// Finds the nodes of an op in the model. Returns the shapes of their weights (second inputs) that the file stores.
  const std::vector<std::vector<std::int64_t>>& weights_of(std::string_view domain, std::string_view op) {
    return context_.weights_of(domain, op);
  }
  /// Sets the function that computes a node with bodies.
  void set_control(graph::Control control) { control_ = std::move(control); }

  /// The file's description of an output. Its sizes may be for another batch size.
  graph::Value declared(std::size_t output) const {
    return has_output(output) ? context_.declared(output) : graph::Value();
  }
  /// The value of an input if the file stores it. Otherwise undefined.
  graph::Datum stored(std::size_t i) const { return has_input(i) ? context_.stored(places_[i]) : graph::Datum(); }
  /// The known facts about an input. Nothing is known about an input that is left out.
  const graph::Value& input(std::size_t i) const;
  const Values& known_inputs() const noexcept { return inputs_; }
  std::optional<DType> dtype_of(std::size_t i) const { return input(i).dtype; }
  std::optional<int> rank_of(std::size_t i) const;
  /// Throws if the input's elements are known to have another type.
  void require_dtype(std::size_t i, DType allowed) const;
  void require_dtype(std::size_t i, TypesThat allowed) const;
  /// Throws if the input's elements are known to be whole numbers or bool.
  void require_floating(std::size_t i) const { require_dtype(i, TypesThat{is_floating}); }
  /// Throws if the input is known to have fewer or more axes.
  void require_rank(std::size_t i, int least, int most) const;
  /// Throws if input i is a tensor.
  void require_sequence(std::size_t i) const;
  /// Declares that inputs may be sequences and optional values.
  void takes_sequences() noexcept { takes_sequences_ = true; }
  /// The texts of input 0, or null if it has numbers. After this call the input may have texts.
  const graph::Texts& texts_of_input() {
    takes_texts_ = true;
    return input(0).texts;
  }

  /// Declares that inputs may have numbers of small types (onnx/ops/small_types.h).
  void takes_small_types() noexcept { takes_small_types_ = true; }

  /// Sets the known facts about an output.
  void gives(std::size_t output, graph::Value value);
  /// Declares that the first output has the element type and the shape of an input.
  void gives_same(std::size_t i = 0) { gives(0, input(i)); }
  /// Declares that the first output has the element type of an input.
  void gives_type_of(std::size_t i, std::optional<int> rank = {}) { gives(0, value_of(dtype_of(i), rank)); }
  /// Declares that all outputs have the element type of an input.
  void all_give_type_of(std::size_t i) {
    for (graph::Value& output : outputs_) output = value_of(dtype_of(i));
  }

  /// Throws for too few or too many inputs, and for more outputs than the op computes here.
  void check_counts(std::size_t min_inputs, std::size_t max_inputs, std::size_t max_outputs = 1) const;
  /// Throws for attributes that no builder asked for, and for sequences if the op takes only tensors.
  void check_all_known() const;

  /// For the importer: the facts that builders declared.
  graph::Value& output(std::size_t i) { return outputs_[i]; }
  graph::Control& control() noexcept { return control_; }
  Attributes& described() noexcept { return described_; }
  bool is_different() const noexcept { return differs_; }

 private:
  bool is_hint_of_version_1(std::string_view attribute) const;
  const file::Attribute* find(std::string_view name) const;
  const file::Attribute* take(std::string_view name, file::Attribute::Kind kind);

  const file::Node& node_;
  std::vector<Attribute> attributes_;
  std::int64_t version_;
  const std::vector<int>& places_;
  Values inputs_, outputs_;
  Context& context_;
  graph::Control control_;
  std::set<std::string_view> known_;
  Attributes described_;
  bool takes_sequences_ = false, takes_texts_ = false, takes_small_types_ = false, differs_ = false;
};

}  // namespace crisol::onnx
