// ONNX files for tests, written field by field: valid files, and files that no other writer would make.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

namespace crisol::testing::onnx_file {

/// A message of the wire format. Field numbers come from onnx.proto.
class Proto {
 public:
  Proto& integer(std::uint32_t field, std::int64_t value) {
    protozero::pbf_writer(bytes_).add_int64(field, value);
    return *this;
  }
  Proto& real(std::uint32_t field, float value) {
    protozero::pbf_writer(bytes_).add_float(field, value);
    return *this;
  }
  Proto& text(std::uint32_t field, const std::string& value) {
    protozero::pbf_writer(bytes_).add_bytes(field, value);
    return *this;
  }
  Proto& message(std::uint32_t field, const Proto& value) { return text(field, value.bytes()); }
  Proto& integers(std::uint32_t field, const std::vector<std::int64_t>& values) {
    protozero::pbf_writer(bytes_).add_packed_int64(field, values.begin(), values.end());
    return *this;
  }
  Proto& reals(std::uint32_t field, const std::vector<float>& values) {
    protozero::pbf_writer(bytes_).add_packed_float(field, values.begin(), values.end());
    return *this;
  }
  Proto& texts(std::uint32_t field, const std::vector<std::string>& values) {
    for (const std::string& value : values) text(field, value);
    return *this;
  }

  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// Numbers of element types in files.
enum Number : int { f32 = 1, u8 = 2, i8 = 3, i32 = 6, i64 = 7, string = 8, boolean = 9, f16 = 10, f64 = 11, c64 = 14 };

using Sizes = std::vector<std::int64_t>;

/// A TensorProto without data.
inline Proto tensor(const std::string& name, int type, const Sizes& sizes) {
  Proto t;
  t.integers(1, sizes).integer(2, type);
  if (!name.empty()) t.text(8, name);
  return t;
}

/// The elements are in raw_data.
template <class T>
Proto raw_tensor(const std::string& name, int type, const Sizes& sizes, const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return tensor(name, type, sizes).text(9, bytes);
}

inline Proto entry(const std::string& key, const std::string& value) { return Proto().text(1, key).text(2, value); }

/// The elements are in a file of their own.
inline Proto external_tensor(const std::string& name, int type, const Sizes& sizes, const std::vector<Proto>& entries) {
  Proto t = tensor(name, type, sizes).integer(14, 1);
  for (const Proto& one : entries) t.message(13, one);
  return t;
}

/// A size of a shape: a number, a name, or nothing.
inline Proto dimension(const std::string& size) {
  if (size.empty()) return {};
  return size.find_first_not_of("0123456789") == std::string::npos ? Proto().integer(1, std::stoll(size))
                                                                   : Proto().text(2, size);
}

inline Proto tensor_type(int type, const std::vector<std::string>& sizes) {
  Proto shape;
  for (const std::string& size : sizes) shape.message(1, dimension(size));
  return Proto().message(1, Proto().integer(1, type).message(2, shape));
}

inline Proto value(const std::string& name, const Proto& type) { return Proto().text(1, name).message(2, type); }
inline Proto value(const std::string& name, int type, const std::vector<std::string>& sizes) {
  return value(name, tensor_type(type, sizes));
}

inline Proto attribute(const std::string& name, std::int64_t number) {
  return Proto().text(1, name).integer(3, number).integer(20, 2);
}
inline Proto attribute(const std::string& name, const Sizes& numbers) {
  return Proto().text(1, name).integers(8, numbers).integer(20, 7);
}
inline Proto attribute(const std::string& name, float number) {
  return Proto().text(1, name).real(2, number).integer(20, 1);
}
inline Proto attribute(const std::string& name, const char* text) {
  return Proto().text(1, name).text(4, text).integer(20, 3);
}
inline Proto attribute(const std::string& name, const std::vector<float>& numbers) {
  return Proto().text(1, name).reals(7, numbers).integer(20, 6);
}
inline Proto attribute(const std::string& name, const std::vector<std::string>& list) {
  return Proto().text(1, name).texts(9, list).integer(20, 8);
}
inline Proto tensor_attribute(const std::string& name, const Proto& tensor) {
  return Proto().text(1, name).message(5, tensor).integer(20, 4);
}
inline Proto graph_attribute(const std::string& name, const Proto& graph) {
  return Proto().text(1, name).message(6, graph).integer(20, 5);
}

inline Proto node(const std::string& op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs, const std::vector<Proto>& attributes = {},
                  const std::string& domain = "") {
  Proto n;
  n.texts(1, inputs).texts(2, outputs).text(4, op);
  for (const Proto& one : attributes) n.message(5, one);
  if (!domain.empty()) n.text(7, domain);
  return n;
}

struct GraphParts {
  std::vector<Proto> nodes = {}, initializers = {}, inputs = {}, outputs = {};
  std::string name = "main";
};

inline Proto graph(const GraphParts& parts) {
  Proto g;
  for (const Proto& one : parts.nodes) g.message(1, one);
  g.text(2, parts.name);
  for (const Proto& one : parts.initializers) g.message(5, one);
  for (const Proto& one : parts.inputs) g.message(11, one);
  for (const Proto& one : parts.outputs) g.message(12, one);
  return g;
}

inline Proto operator_set(const std::string& domain, std::int64_t version) {
  return Proto().text(1, domain).integer(2, version);
}

/// A model with one operator set of ONNX's own ops.
inline Proto model(const Proto& graph, std::int64_t opset = 17) {
  return Proto().integer(1, 8).text(2, "crisol tests").message(7, graph).message(8, operator_set("", opset));
}

}  // namespace crisol::testing::onnx_file
