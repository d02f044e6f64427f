// A node that is imported: its attributes, and the facts about its inputs and outputs that are known before a run.
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

#include "graph/graph.h"
#include "onnx/reader/model.h"

namespace crisol::onnx {

/// The known facts about several values. Their names are empty.
using Values = std::vector<graph::Value>;

/// The known facts about the result of inputs that are broadcast: the element type of input `k`, and the common shape.
graph::Value broadcast(const Values& inputs, std::size_t k = 0);
/// A tensor of which this element type and this number of axes are known.
graph::Value value_of(std::optional<DType> dtype, std::optional<int> rank = {});

/// A node as a builder sees it. Every fault throws Error (invalid_argument) with "[onnx] …", and the importer adds
/// the node.
///
/// A builder refuses element types and numbers of axes that the library does not take (require_dtype, require_rank),
/// and says what the outputs are (gives). So a model is refused when it is loaded, and not when it runs.
class Call {
 public:
  /// An attribute under the name that the node gives it. A function's node may have a value of the function's call.
  struct Attribute {
    std::string_view name;
    const file::Attribute* value;
  };
  /// The part of the importer that builders use.
  class Context {
   public:
    /// Reads a tensor of the file.
    virtual graph::Datum load(const file::TensorProto& tensor) = 0;
    /// The texts that the numbers of a tensor of texts are positions of; null for numbers.
    virtual graph::Texts texts_of(const file::TensorProto& tensor) = 0;
    /// The value that the file stores, or undefined if nodes compute it.
    virtual graph::Datum stored(int place) = 0;
    /// The file's description of an output, with its sizes.
    virtual graph::Value declared(std::size_t output) = 0;
    /// Makes a graph the next body of the node. `inputs` has the known facts about its inputs. Returns the known facts
    /// about its outputs.
    virtual Values add_body(const file::Graph& graph, const Values& inputs) = 0;
    /// Makes the part of the graph so far that computes the value `y` from others the next body of the node.
    virtual void add_part(const std::string& y, const std::vector<std::string>& from) = 0;

    /// The shapes of the weights that the model's file stores for nodes of an op: their second inputs.
    virtual const std::vector<std::vector<std::int64_t>>& weights_of(std::string_view domain, std::string_view op) = 0;

   protected:
    ~Context() = default;
  };

  /// `places` has graph::absent for inputs that are left out.
  Call(const file::Node& node, std::vector<Attribute> attributes, std::int64_t version, const std::vector<int>& places,
       Values inputs, Context& context);

  /// The version of the operator set that the node comes from.
  std::int64_t version() const noexcept { return version_; }
  /// Takes the node as one of another version.
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
  /// A text that must be one of `allowed`. The first of them is the default.
  std::string text_of(std::string_view name, std::initializer_list<const char*> allowed);
  /// Undefined without the attribute.
  graph::Datum tensor(std::string_view name);
  /// The elements of a tensor of texts; empty without the attribute, and for numbers.
  std::vector<std::string> texts_of_tensor(std::string_view name);
  /// Null without the attribute.
  const file::Type* type(std::string_view name);

  /// The attributes whose form a node of a graph can keep.
  std::map<std::string, graph::Attribute> attributes() const;

  /// Imports the graph of an attribute as the node's next body. Refuses a graph with another number of inputs. Returns
  /// the known facts about the graph's outputs.
  Values body(std::string_view name, const Values& inputs);
  /// Makes the part of the graph that computes the value `y` from the values `from` the node's next body. These are its
  /// inputs. Refuses a value that nothing before the node makes, and a `y` that depends on none of `from`.
  void part(const std::string& y, const std::vector<std::string>& from) { context_.add_part(y, from); }
  /// The shapes of the weights that the file stores for nodes of an op: their second inputs.
  const std::vector<std::vector<std::int64_t>>& weights_of(std::string_view domain, std::string_view op) {
    return context_.weights_of(domain, op);
  }
  /// How a node with bodies computes.
  void set_control(graph::Control control) { control_ = std::move(control); }

  /// The file's description of an output. Its sizes may belong to another size of the batch.
  graph::Value declared(std::size_t output) const {
    return has_output(output) ? context_.declared(output) : graph::Value();
  }
  /// The value of an input if the file stores it, otherwise undefined.
  graph::Datum stored(std::size_t i) const { return has_input(i) ? context_.stored(places_[i]) : graph::Datum(); }
  /// The known facts about an input. Nothing is known of an input that is left out.
  const graph::Value& input(std::size_t i) const;
  const Values& known_inputs() const noexcept { return inputs_; }
  std::optional<DType> dtype_of(std::size_t i) const { return input(i).dtype; }
  std::optional<int> rank_of(std::size_t i) const;
  /// Refuses an input whose elements are known to be of another type.
  void require_dtype(std::size_t i, std::initializer_list<DType> allowed) const;
  /// Refuses an input whose elements are known to be whole numbers or bool.
  void require_floating(std::size_t i) const { require_dtype(i, {DType::f32, DType::f16}); }
  /// Refuses an input that is known to have fewer or more axes.
  void require_rank(std::size_t i, int least, int most) const;
  /// Refuses a tensor as input i.
  void require_sequence(std::size_t i) const;
  /// Says that inputs may be sequences, and optional values.
  void takes_sequences() noexcept { takes_sequences_ = true; }
  /// The texts of an input; none for numbers. Input 0 may then have texts.
  const graph::Texts& texts_of_input() {
    takes_texts_ = true;
    return input(0).texts;
  }

  /// Sets the known facts about an output.
  void gives(std::size_t output, graph::Value value);
  /// The first output has the element type and the shape of an input.
  void gives_same(std::size_t i = 0) { gives(0, input(i)); }
  /// The first output has the element type of an input.
  void gives_type_of(std::size_t i, std::optional<int> rank = {}) { gives(0, value_of(dtype_of(i), rank)); }

  /// Refuses inputs that are missing or too many, and more outputs than the op computes here.
  void check_counts(std::size_t min_inputs, std::size_t max_inputs, std::size_t max_outputs = 1) const;
  /// Refuses attributes that no one asked for, and sequences for an op that takes tensors.
  void check_all_known() const;

  /// For the importer: the facts that builders set.
  graph::Value& output(std::size_t i) { return outputs_[i]; }
  graph::Control& control() noexcept { return control_; }

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
  bool takes_sequences_ = false, takes_texts_ = false;
};

}  // namespace crisol::onnx
