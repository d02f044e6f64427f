// The reader of ONNX files: the messages that it decodes, and the files that it refuses.
#include "onnx/reader/model_file.h"

#include <cstring>
#include <filesystem>

#include "doctest/doctest.h"
#include "support/files.h"
#include "support/onnx_writer.h"
#include "support/processes/subprocess.h"

using namespace crisol::onnx::file;
using namespace crisol::testing::onnx_file;
using crisol::ErrorCode;
using crisol::testing::refusal;
using crisol::testing::TemporaryFolder;
using crisol::testing::write_file;
using doctest::Contains;

namespace {

/// A file with these bytes.
class Written {
 public:
  explicit Written(const std::string& bytes) : path_(folder_.path() + "/net.onnx") { write_file(path_, bytes); }
  explicit Written(const Proto& proto) : Written(proto.bytes()) {}
  const std::string& path() const { return path_; }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

doctest::String refusal_of(const std::string& bytes) {
  const Written file(bytes);
  return refusal(ErrorCode::io, [&] { const ModelFile model(file.path()); });
}
doctest::String refusal_of(const Proto& proto) { return refusal_of(proto.bytes()); }

Proto model_with(const Proto& initializer) { return model(graph({.initializers = {initializer}})); }
Proto model_with_node(const Proto& node) { return model(graph({.nodes = {node}})); }
Proto model_with_attribute(const Proto& attribute) { return model_with_node(node("Op", {}, {}, {attribute})); }

/// The elements of a model's only initializer.
std::string elements_of(const Proto& initializer) {
  const Written file(model_with(initializer));
  ModelFile model(file.path());
  REQUIRE(model.model().graph.initializers.size() == 1);
  return std::string(model.elements_of(model.model().graph.initializers[0]).bytes());
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("onnx reader: the parts of a model") {
  const Proto type = tensor_type(f32, {"N", "3", ""});
  const Proto function = Proto()
                             .text(1, "Twice")
                             .text(4, "x")
                             .text(5, "y")
                             .text(6, "must")
                             .message(11, attribute("may", 1.5f))
                             .message(7, node("Add", {"x", "x"}, {"y"}))
                             .message(9, operator_set("ai.onnx", 14))
                             .text(10, "mine");
  Proto bytes = model(graph({.nodes = {node("Conv", {"x", "w", ""}, {"y"}, {attribute("pads", Sizes{1, -1, 0, 1})}),
                                       node("Twice", {"y"}, {"z"}, {}, "mine")},
                             .initializers = {raw_tensor<float>("w", f32, {2, 1}, {1, 2})},
                             .inputs = {value("x", type), value("s", Proto().message(4, Proto().message(1, type))),
                                        value("m", Proto().message(5, Proto().integer(1, string).message(2, type)))},
                             .outputs = {value("z", f32, {})}}));
  bytes.message(25, function).message(14, entry("key", "text")).integer(5, 7).text(3, "1.0").message(20, Proto());
  bytes.integer(1000, 5).text(1001, "fields of later versions");
  const Written file(bytes);
  const ModelFile read(file.path());
  const ModelProto& m = read.model();
  CHECK(m.ir_version == 8);
  CHECK(m.producer == "crisol tests");
  CHECK(m.producer_version == "1.0");
  CHECK(m.version == 7);
  CHECK(m.has_training);
  REQUIRE(m.operator_sets.size() == 1);
  CHECK(m.operator_sets[0].version == 17);
  REQUIRE(m.metadata.size() == 1);
  CHECK(m.metadata[0].second == "text");

  REQUIRE(m.graph.nodes.size() == 2);
  const Node& conv = m.graph.nodes[0];
  CHECK(conv.op == "Conv");
  CHECK(conv.inputs == std::vector<std::string_view>{"x", "w", ""});
  REQUIRE(conv.attributes.size() == 1);
  CHECK(conv.attributes[0].kind == Attribute::Kind::integers);
  CHECK(conv.attributes[0].integers == std::vector<std::int64_t>{1, -1, 0, 1});
  CHECK(m.graph.nodes[1].domain == "mine");

  REQUIRE(m.graph.inputs.size() == 3);
  const Type& tensor = m.graph.inputs[0].type;
  CHECK(tensor.kind == Type::Kind::tensor);
  CHECK(tensor.element == ElementType::f32);
  REQUIRE(tensor.shape);
  REQUIRE(tensor.shape->size() == 3);
  CHECK((*tensor.shape)[0].name == "N");
  CHECK((*tensor.shape)[1].size == 3);
  CHECK_FALSE((*tensor.shape)[2].size);
  CHECK((*tensor.shape)[2].name.empty());
  CHECK(m.graph.inputs[1].type.kind == Type::Kind::sequence);
  CHECK(m.graph.inputs[1].type.inner.at(0).element == ElementType::f32);
  CHECK(m.graph.inputs[2].type.kind == Type::Kind::map);
  CHECK(m.graph.inputs[2].type.element == ElementType::string);
  REQUIRE(m.graph.outputs[0].type.shape);
  CHECK(m.graph.outputs[0].type.shape->empty());

  REQUIRE(m.functions.size() == 1);
  CHECK(m.functions[0].name == "Twice");
  CHECK(m.functions[0].attributes == std::vector<std::string_view>{"must"});
  CHECK(m.functions[0].default_attributes.at(0).floats == std::vector<float>{1.5f});
  CHECK(m.functions[0].operator_sets.at(0).domain.empty());
  CHECK(m.functions[0].nodes.at(0).op == "Add");
}

TEST_CASE("onnx reader: attributes of every kind, packed or not, with or without a type") {
  const Proto tensor = raw_tensor<float>("t", f32, {}, {2});
  const Proto sparse = Proto()
                           .message(1, raw_tensor<float>("s", f32, {1}, {5}))
                           .message(2, raw_tensor<std::int64_t>("", i64, {1}, {3}))
                           .integer(3, 9);
  const std::vector<Proto> attributes{
      Proto().text(1, "a").integer(3, 1).integer(3, -4),  // The last of two numbers counts.
      Proto().text(1, "b").integer(20, 3),                // An empty string.
      Proto().text(1, "c").real(7, 1).real(7, 2).reals(7, {3}),
      Proto().text(1, "d").integer(8, 5).integers(8, {6, 7}),
      Proto().text(1, "e").texts(9, {"x", ""}),
      tensor_attribute("f", tensor),
      graph_attribute("g", graph({.nodes = {node("Op", {}, {})}})),
      Proto().text(1, "h").message(22, sparse),
      Proto().text(1, "i").message(14, tensor_type(i64, {"2"})),
      Proto().text(1, "j").text(21, "outer").integer(20, 2),
      Proto().text(1, "k").integer(20, 7),  // An empty list.
  };
  const Written file(model_with_node(node("Op", {}, {}, attributes)));
  ModelFile read(file.path());
  const std::vector<Attribute>& a = read.model().graph.nodes.at(0).attributes;
  REQUIRE(a.size() == attributes.size());
  using Kind = Attribute::Kind;
  const Kind kinds[]{Kind::integer, Kind::string,        Kind::floats, Kind::integers, Kind::strings, Kind::tensor,
                     Kind::graph,   Kind::sparse_tensor, Kind::type,   Kind::integer,  Kind::integers};
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(a[i].kind == kinds[i]);
  }
  CHECK(a[0].integers == std::vector<std::int64_t>{-4});
  CHECK(a[1].strings == std::vector<std::string_view>{""});
  CHECK(a[2].floats == std::vector<float>{1, 2, 3});
  CHECK(a[3].integers == std::vector<std::int64_t>{5, 6, 7});
  CHECK(a[4].strings.size() == 2);
  CHECK(read.elements_of(a[5].tensors.at(0)).bytes() == bytes_of<float>({2}));
  CHECK(a[6].graphs.at(0).nodes.at(0).op == "Op");
  CHECK(a[7].sparse_tensors.at(0).sizes == std::vector<std::int64_t>{9});
  CHECK(a[8].types.at(0).element == ElementType::i64);
  CHECK(a[9].reference == "outer");
}

TEST_CASE("onnx reader: elements from every field") {
  CHECK(elements_of(raw_tensor<float>("t", f32, {2, 1}, {1, -2})) == bytes_of<float>({1, -2}));
  CHECK(elements_of(tensor("t", f32, {3}).reals(4, {1, -2}).real(4, 3)) == bytes_of<float>({1, -2, 3}));
  CHECK(elements_of(tensor("t", 14, {1}).reals(4, {1, -2})) == bytes_of<float>({1, -2}));
  CHECK(elements_of(tensor("t", i32, {2}).integers(5, {1, -2})) == bytes_of<std::int32_t>({1, -2}));
  CHECK(elements_of(tensor("t", i8, {2}).integers(5, {127, -128})) == bytes_of<std::int8_t>({127, -128}));
  CHECK(elements_of(tensor("t", f16, {2}).integers(5, {0x3c00, 0xffff})) == bytes_of<std::uint16_t>({0x3c00, 0xffff}));
  CHECK(elements_of(tensor("t", boolean, {2}).integers(5, {1, 0})) == std::string("\1\0", 2));
  CHECK(elements_of(tensor("t", i64, {2}).integers(7, {1}).integer(7, INT64_MIN)) ==
        bytes_of<std::int64_t>({1, INT64_MIN}));
  CHECK(elements_of(tensor("t", 12, {1}).integers(11, {0xffffffff})) == "\xff\xff\xff\xff");
  CHECK(elements_of(tensor("t", 13, {1}).integers(11, {-1})) == std::string(8, '\xff'));
  CHECK(elements_of(tensor("t", f64, {2}).text(10, bytes_of<double>({1, 2}))) == bytes_of<double>({1, 2}));
  // Two elements of 4 bits in a number; one element of 6 bits in a number, and four in three bytes of the result.
  CHECK(elements_of(tensor("t", 22, {3}).integers(5, {0x21, 0x03})) == "\x21\x03");
  CHECK(elements_of(tensor("t", 27, {5}).integers(5, {1, 2, 3, 63, 5})) == std::string("\x81\x30\xfc\x05", 4));
  CHECK(elements_of(tensor("t", f32, {0, 5})) == "");
  CHECK(elements_of(raw_tensor<float>("t", f32, {0, 5}, {})) == "");

  const Written file(model_with(tensor("t", string, {2}).texts(6, {"one", ""})));
  ModelFile read(file.path());
  CHECK(read.strings_of(read.model().graph.initializers[0]) == std::vector<std::string_view>{"one", ""});
}

TEST_CASE("onnx reader: values that do not fit their type are refused") {
  const auto refused = [](const Proto& initializer) {
    return refusal(ErrorCode::io, [&] { elements_of(initializer); });
  };
  CHECK(refused(tensor("t", i8, {1}).integers(5, {128})) ==
        Contains("tensor \"t\" of i8 holds 128, from -128 to 127 allowed"));
  CHECK(refused(tensor("t", u8, {1}).integers(5, {-1})) == Contains("holds -1, from 0 to 255 allowed"));
  CHECK(refused(tensor("t", 27, {1}).integers(5, {64})) == Contains("from 0 to 63"));
  CHECK(refused(tensor("t", boolean, {1}).integers(5, {2})) == Contains("from 0 to 1"));
  CHECK(refused(raw_tensor<std::uint8_t>("t", boolean, {2}, {1, 2})) ==
        Contains("tensor \"t\" of bool holds 2 at element 1, only 0 and 1 allowed"));
}

TEST_CASE("onnx reader: tensors whose data do not fit their sizes are refused") {
  const auto refused = [](const Proto& initializer) { return refusal_of(model_with(initializer)); };
  CHECK(refused(tensor("t", f32, {2}).reals(4, {1})) ==
        Contains(R"(net.onnx: graph "main", initializer 0 "t", at byte )"));
  CHECK(refused(tensor("t", f32, {2}).reals(4, {1})) == Contains("the tensor has 1 values, 2 elements of f32 take 2"));
  CHECK(refused(tensor("t", f32, {})) == Contains("the tensor has 0 values, 1 elements of f32 take 1"));
  CHECK(refused(raw_tensor<float>("t", f32, {2}, {1})) == Contains("raw_data has 4 bytes, 2 elements of f32 take 8"));
  CHECK(refused(tensor("t", f32, {-1})) == Contains("the size -1 is negative"));
  for (const Sizes& sizes : {Sizes{INT64_MAX, 2}, Sizes{0, INT64_MAX, INT64_MAX}, Sizes(70, 2)})
    CHECK(refused(tensor("t", u8, sizes)) == Contains("the sizes multiply to too many elements"));
  CHECK(refused(tensor("t", i64, {1}).integers(5, {1})) ==
        Contains("elements of i64 lie in field 5, field 7 expected"));
  CHECK(refused(tensor("t", i64, {2}).integers(5, {1}).integers(7, {1})) == Contains("data in two fields"));
  CHECK(refused(tensor("t", i64, {1}).integers(7, {1}).text(9, "12345678")) == Contains("in raw_data and in field 7"));
  CHECK(refused(tensor("t", i64, {1}).text(9, "12345678").text(9, "12345678")) == Contains("a second raw_data"));
  CHECK(refused(tensor("t", string, {1}).text(9, "x")) == Contains("strings lie outside of string_data"));
  CHECK(refused(tensor("t", 0, {})) == Contains("the tensor has no element type"));
  CHECK(refused(tensor("t", 29, {})) == Contains("element type 29 is unknown"));
  CHECK(refused(tensor("t", f32, {}).message(3, Proto())) == Contains("segments"));
  CHECK(refused(tensor("t", i64, {1}).text(7, "\x80")) == Contains("field 7 ends within an integer"));
  CHECK(refused(tensor("t", i64, {1}).text(7, std::string(11, '\xff') + '\1')) == Contains("field 7 holds no list"));
  CHECK(refused(tensor("t", f64, {1}).text(10, "1234567")) == Contains("7 bytes, a multiple of 8 expected"));
  const Proto values = raw_tensor<float>("s", f32, {1}, {5});
  CHECK(refusal_of(model_with_attribute(
            Proto().text(1, "a").message(22, Proto().message(1, values).message(2, values).integer(3, 9)))) ==
        Contains("the indices do not fit 1 values in 1 axes"));
}

TEST_CASE("onnx reader: attributes and nodes that contradict themselves are refused") {
  const auto refused = [](const Proto& attribute) { return refusal_of(model_with_attribute(attribute)); };
  CHECK(refused(Proto().integer(3, 1)) == Contains("graph, node 0, attribute 0, at byte "));
  CHECK(refused(Proto().integer(3, 1)) == Contains("the attribute has no name"));
  CHECK(refused(Proto().text(1, "a")) == Contains(R"(attribute 0 "a", at byte )"));
  CHECK(refused(Proto().text(1, "a")) == Contains("the attribute has no value"));
  CHECK(refused(Proto().text(1, "a").integer(3, 1).real(2, 1)) == Contains("values of several kinds"));
  CHECK(refused(Proto().text(1, "a").integer(3, 1).integer(20, 1)) == Contains("the attribute is FLOAT and holds INT"));
  CHECK(refused(Proto().text(1, "a").integer(20, 15)) == Contains("type 15 of an attribute is unknown"));
  CHECK(refused(Proto().text(1, "a").integer(20, 5)) == Contains("the attribute is a GRAPH and holds none"));
  CHECK(refused(Proto().text(1, "a").text(21, "b").integer(3, 1)) == Contains("refers to \"b\" and has a value"));
  CHECK(refused(Proto().text(1, "a").message(6, Proto()).message(6, Proto())) == Contains("a second graph"));
  CHECK(refusal_of(model_with_node(Proto().text(3, "n"))) == Contains(R"(node 0 "n", at byte )"));
  CHECK(refusal_of(model_with_node(Proto().text(3, "n"))) == Contains("the node has no op_type"));
}

TEST_CASE("onnx reader: files that are no models are refused") {
  CHECK(refusal_of("") == Contains("net.onnx: at byte 0: there is no graph"));
  CHECK(refusal_of("PK\3\4 and so on") == Contains("this is a zip archive"));
  CHECK(refusal_of("some text\n") == Contains("net.onnx: at byte "));
  CHECK(refusal_of(Proto().message(7, Proto())) == Contains("ir_version is 0, at least 1 expected"));
  CHECK(refusal_of(model(Proto()).message(7, Proto())) == Contains("a second graph"));
  CHECK(refusal_of(model(Proto(), 0)) == Contains("version 0, at least 1 expected"));
  CHECK(refusal_of(model(Proto()).message(25, Proto())) == Contains("the function has no name"));
  CHECK(refusal_of(Proto().text(1, "x")) == Contains("field 1 has the wire type 2, an integer expected"));
  CHECK(refusal_of(Proto().integer(2, 1)) ==
        Contains("field 2 has the wire type 0, text, bytes or a message expected"));
  CHECK(refusal_of(std::string("\x3a\x05\x01", 3)) == Contains("truncated: field 7 has 5 bytes, 1 left"));
  // A length of 2^32 + 1.
  CHECK(refusal_of(std::string("\x12\x81\x80\x80\x80\x10\x61", 7)) ==
        Contains("truncated: field 2 has 4294967297 bytes, 1 left"));
  CHECK(refusal_of(std::string(12, '\xff')) == Contains("no valid field follows"));
  const TemporaryFolder folder;
  CHECK(refusal(ErrorCode::io, [&] { ModelFile file(folder.path() + "/none.onnx"); }) == Contains("no such file"));
  CHECK(refusal(ErrorCode::io, [&] { ModelFile file(folder.path()); }) == Contains("not a regular file"));
}

TEST_CASE("onnx reader: every truncation of a model is refused, or is a shorter model") {
  const std::string whole =
      model(graph({.nodes = {node("Conv", {"x", "w"}, {"y"}, {attribute("pads", Sizes{1, 1, 1, 1})})},
                   .initializers = {raw_tensor<float>("w", f32, {2, 1}, {1, 2})},
                   .inputs = {value("x", f32, {"N", "3"})}}))
          .bytes();
  int refused = 0;
  for (std::size_t length = 0; length < whole.size(); ++length)
    refused += refusal_of(whole.substr(0, length)) == doctest::String("nothing thrown") ? 0 : 1;
  CHECK(refused >= static_cast<int>(whole.size()) - 8);  // The model's opset import comes last.
}

TEST_CASE("onnx reader: what lies too deep, or is too much, is refused") {
  Proto deep = tensor_type(f32, {});
  for (int i = 0; i < 60; ++i) deep = Proto().message(4, Proto().message(1, deep));
  CHECK(refusal_of(model(graph({.inputs = {value("x", deep)}}))) ==
        Contains("messages lie within each other more than 100 deep"));
  Proto graphs = graph({});
  for (int i = 0; i < 40; ++i) graphs = graph({.nodes = {node("If", {}, {}, {graph_attribute("then", graphs)})}});
  CHECK(refusal_of(model(graphs)) == Contains("more than 100 deep"));
  Proto shallow = graph({});
  for (int i = 0; i < 30; ++i) shallow = graph({.nodes = {node("If", {}, {}, {graph_attribute("then", shallow)})}});
  CHECK(refusal_of(model(shallow)) == "nothing thrown");

  // Each empty input takes 2 bytes of the file, and some 90 bytes of memory.
  std::string inputs(3'000'000, '\0');
  for (std::size_t i = 0; i < inputs.size(); i += 2) inputs[i] = '\x5a';
  CHECK(refusal_of(Proto().integer(1, 8).text(7, inputs)) ==
        Contains("the model has too many parts: they take more than 109 MiB of memory"));
}

TEST_CASE("onnx reader: names in messages are shortened, and hold no control characters") {
  CHECK(in_quotes("a\033[31mb\x7f") == "\"a?[31mb?\"");
  CHECK(in_quotes("\xc2\x9b ä") == "\"?? ä\"");
  CHECK(in_quotes(std::string(100, 'x')) == '"' + std::string(80, 'x') + "…\"");
}
