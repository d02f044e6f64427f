#include "ops/pointwise/pointwise_source.h"

#include <set>

#include "base/text.h"
#include "crisol/dtype_table.h"
#include "ops/pointwise/pointwise_text.h"

namespace crisol::ops {

namespace {

using Graph = PointwiseGraph;
using Kind = Graph::Kind;

/// Whether a function of OpenCL is called for each lane of a vector of doubles (cl_kernels/common/math/doubles.h).
bool takes_lanes(std::string_view name) { return name == "pow" || name == "fmod"; }

bool is_helper(std::string_view name) { return name.size() > 1 && name.back() == '_'; }

std::string expression_of(const Graph::Node& node) {
  const PointwiseRow& row = *node.row;
  if (node.kind == Kind::derivative) return text_of(row.derivatives[node.index]);
  return row.integer != nullptr && !is_floating(node.computed) ? row.integer : row.forward;
}

// Writes the text of one graph for one width.
class Writer {
 public:
  Writer(const Graph& graph, std::string_view width) : graph_(graph), width_(width) {}

  std::string function(std::string_view name) const {
    std::ostringstream text;
    const char* end = width_ == "##W" ? " \\\n" : "\n";
    text << "INLINE void " << name << '(' << parameters() << ") {" << end;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Graph::Node& node = graph_.nodes()[i];
      if (node.kind == Kind::input || node.kind == Kind::scalar || is_alias(node)) continue;
      text << "  const " << type(node.type.dtype) << " v" << i << " = "
           << (node.kind == Kind::convert ? converted(node) : applied(node)) << ';' << end;
    }
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i)
      text << "  *y" << i << " = " << value(graph_.outputs()[i], graph_.output_dtype(i)) << ';' << end;
    text << "}\n";
    return text.str();
  }

 private:
  std::string type(DType dtype) const { return concat(register_type(dtype), width_); }

  // Whether registers of a type have 64 bits.
  static bool has_64_bits(DType dtype) { return size_of(value_type(dtype)) == 8; }
  // Whether registers hold more whole numbers than a type does. Its numbers are then cut to its bits.
  static bool wraps(DType dtype) { return is_whole(dtype) && size_of(dtype) < size_of(value_type(dtype)); }
  // x, which is in a register of the type or of a longer type.
  std::string wrapped(const std::string& x, DType dtype) const {
    if (kind_of(dtype) == DTypeKind::integer)
      return concat("convert_", type(dtype), "(convert_", memory_type(dtype), width_, '(', x, "))");
    return concat(x, " & ", (std::int64_t{1} << dtype_row(dtype).digits) - 1);
  }

  std::string parameters() const {
    std::ostringstream text;
    const char* separator = "";
    const auto add = [&](const auto&... parts) {
      ((text << separator) << ... << parts);
      separator = ", ";
    };
    for (std::size_t i = 0; i < graph_.input_count(); ++i) add("const ", type(graph_.input_dtype(i)), " x", i);
    for (std::size_t i = 0; i < graph_.scalar_count(); ++i)
      add("const ", register_type(graph_.scalar_dtype(i)), " s", i);
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) add(type(graph_.output_dtype(i)), "* y", i);
    return text.str();
  }

  // Whether a conversion changes nothing in the register: f16 to f32, u8 to i32 and bool to u8.
  bool is_alias(const Graph::Node& node) const {
    if (node.kind != Kind::convert) return false;
    const DType from = graph_[node.operands[0]].type.dtype, to = node.type.dtype;
    return value_type(from) == value_type(to) && (is_floating(to) || promote_types(from, to) == to);
  }

  // A node's value as a vector in a dtype's register. A number is widened to a vector, and converted if its type
  // differs.
  std::string value(int id, DType dtype) const {
    const Graph::Node& node = graph_[id];
    if (node.kind == Kind::input) return concat('x', node.index);
    if (is_alias(node)) return value(node.operands[0], dtype);
    if (node.kind != Kind::scalar) return concat('v', id);
    const DType own = graph_.scalar_dtype(static_cast<std::size_t>(node.index));
    const bool as_it_is = std::string_view(register_type(dtype)) == register_type(own);
    const std::string one = as_it_is ? concat('s', node.index) : concat('(', register_type(dtype), ")s", node.index);
    return concat('(', type(dtype), ")(", one, ')');
  }

  std::string converted(const Graph::Node& node) const {
    const DType from = graph_[node.operands[0]].type.dtype, to = node.type.dtype;
    const std::string x = value(node.operands[0], from);
    const std::string_view from_register = register_type(from), to_register = register_type(to);
    const auto convert = [&](const std::string& what) {
      // OpenCL does not define the conversion of a negative number. Here it wraps around, as for the other types.
      if (is_floating(from) && value_type(to) == DType::u64)
        return concat("convert_", type(to), "(fmax(", what, ", (", type(from), ")(0))) + convert_", type(to),
                      "(convert_", type(DType::i64), "(fmin(", what, ", (", type(from), ")(0))))");
      return from_register == to_register ? what : concat("convert_", type(to), '(', what, ')');
    };
    // Otherwise a double would be rounded twice.
    if (from == DType::f64 && size_of(to) < size_of(DType::f32) && is_floating(to))
      return concat("odd_float_", type(from), '(', x, ')');
    if (to == DType::boolean) {
      // A comparison of floats already gives ints.
      const std::string holds = concat('(', x, " != (", type(from), ")(0)) & 1");
      return has_64_bits(from) ? convert(holds) : holds;
    }
    // Without this, Oclgrind would convert a vector condition's 1 to 255 (docs/implementations.md).
    if (from == DType::boolean && is_floating(to)) {
      const std::string flag = has_64_bits(to) ? concat("convert_", type(DType::i64), '(', x, ')') : x;
      const std::string zero = concat('(', type(has_64_bits(to) ? DType::i64 : from), ")(0)");
      return concat(flag, " != ", zero, " ? (", type(to), ")(1.0f) : (", type(to), ")(0.0f)");
    }
    if (!wraps(to)) return convert(x);
    if (!has_64_bits(from) || is_floating(from)) return wrapped(convert(x), to);
    return kind_of(to) == DTypeKind::integer ? wrapped(x, to) : convert(wrapped(x, to));
  }

  std::string applied(const Graph::Node& node) const {
    const DType computed = node.computed;
    std::string text;
    for_each_piece(expression_of(node), [&](std::string_view piece, bool is_name) {
      if (!is_name && computed == DType::f64 && piece.back() == 'f') piece.remove_suffix(1);
      text += is_name ? named(node, computed, piece) : std::string(piece);
    });
    if (node.kind == Kind::derivative) return text;
    if (node.row->is_predicate()) {
      // A comparison of longs gives longs.
      text = concat('(', text, ") & 1");
      return has_64_bits(computed) ? concat("convert_", type(DType::boolean), '(', text, ')') : text;
    }
    if (node.type.dtype == DType::boolean) return concat("((", text, ") != 0) & 1");
    return wraps(node.type.dtype) ? wrapped(concat('(', text, ')'), node.type.dtype) : text;
  }

  // The text for a name in a row's expression.
  std::string named(const Graph::Node& node, DType computed, std::string_view name) const {
    const PointwiseRow& row = *node.row;
    const char* of_unsigned = has_64_bits(computed) ? "ulong" : "uint";
    if (name == "T") return type(computed);
    if (name == "U") return concat(of_unsigned, width_);
    if (name == "as_T") return concat("as_", type(computed));
    if (name == "as_U") return concat("as_", of_unsigned, width_);
    std::size_t at = 0;
    const auto operand = [&](DType dtype) { return value(node.operands[at], dtype); };
    if (node.kind == Kind::derivative) {
      if (name == "dy") return operand(computed);
      ++at;
    }
    for (std::size_t i = 0; i < row.input_count; ++i, ++at)
      if (name == row.inputs[i]) return operand(computed);
    if (node.kind == Kind::derivative) {
      if (name == "y") return operand(computed);
      ++at;
    }
    for (std::size_t i = 0; i < row.scalar_count; ++i, ++at)
      if (name == row.scalars[i]) return operand(computed);
    if (computed == DType::f64 && takes_lanes(name)) return concat(name, '_', type(computed));
    return is_helper(name) ? concat(name, type(computed)) : std::string(name);
  }

  const Graph& graph_;
  std::string_view width_;
};

}  // namespace

const char* register_type(DType dtype) noexcept { return memory_type(value_type(dtype)); }

const char* memory_type(DType dtype) noexcept { return dtype_row(dtype).opencl; }

std::size_t function_calls(const PointwiseGraph& graph, std::string_view of) {
  std::size_t calls = 0;
  for (const Graph::Node& node : graph.nodes()) {
    if (node.row == nullptr) continue;
    std::string_view name;
    for_each_piece(expression_of(node), [&](std::string_view piece, bool is_name) {
      const bool is_function =
          of.empty() ? name.size() > 1 && name != "as_T" && name != "as_U" && name != "fabs" : name == of;
      if (!is_name && is_function && piece.front() == '(') ++calls;
      name = is_name ? piece : std::string_view();
    });
  }
  return calls;
}

std::string includes_of(const PointwiseGraph& graph) {
  std::set<std::string, std::less<>> names;
  for (const Graph::Node& node : graph.nodes()) {
    if (node.type.dtype == DType::f64 || node.computed == DType::f64) names.emplace("doubles");
    if (node.row == nullptr || node.computed == DType::f64) continue;
    for_each_piece(expression_of(node), [&](std::string_view piece, bool is_name) {
      if (is_name && is_helper(piece)) names.emplace(piece.substr(0, piece.size() - 1));
    });
  }
  std::string text = "#include \"common/vector.h\"\n";
  for (const std::string& name : names) text += concat("#include \"common/math/", name, ".h\"\n");
  return text;
}

std::string function_of(const PointwiseGraph& graph, std::string_view name, std::string_view width) {
  return Writer(graph, width).function(name);
}

}  // namespace crisol::ops
