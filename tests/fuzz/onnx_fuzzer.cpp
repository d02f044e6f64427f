// Arbitrary bytes as an ONNX file. Reading fails with an io error, or returns a model whose tensors have as many bytes
// as their sizes say, within the file.
#include "onnx/reader/model_file.h"

#include "expect.h"
#include "memory_file.h"

using namespace crisol;
using namespace crisol::fuzz;

namespace {

/// Reads the data of all tensors of a model.
class Walk {
 public:
  Walk(onnx::file::ModelFile& file, std::size_t file_bytes) : file_(file), file_bytes_(file_bytes) {}

  void visit(const onnx::file::Graph& graph) {
    for (const onnx::file::TensorProto& tensor : graph.initializers) visit(tensor);
    for (const onnx::file::SparseTensor& tensor : graph.sparse_initializers) visit(tensor);
    visit(graph.nodes);
  }

  void visit(const std::vector<onnx::file::Node>& nodes) {
    for (const onnx::file::Node& node : nodes) visit(node.attributes);
  }

  void visit(const std::vector<onnx::file::Attribute>& attributes) {
    for (const onnx::file::Attribute& attribute : attributes) {
      expect(attribute.kind != onnx::file::Attribute::Kind::undefined || !attribute.reference.empty(),
             "values have kinds");
      for (const onnx::file::TensorProto& tensor : attribute.tensors) visit(tensor);
      for (const onnx::file::SparseTensor& tensor : attribute.sparse_tensors) visit(tensor);
      for (const onnx::file::Graph& graph : attribute.graphs) visit(graph);
    }
  }

 private:
  void visit(const onnx::file::SparseTensor& tensor) {
    visit(tensor.values);
    visit(tensor.indices);
  }

  void visit(const onnx::file::TensorProto& tensor) {
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.sizes) count = size == 0 || count == 0 ? 0 : count * size;
    expect(count == tensor.count, "there are as many elements as the sizes say");
    if (tensor.place != onnx::file::TensorProto::Place::external)
      expect(tensor.byte_count() <= 8 * file_bytes_, "elements lie in the file");
    if (tensor.type == onnx::file::ElementType::string) {
      expect(static_cast<std::int64_t>(file_.strings_of(tensor).size()) == count, "there are as many strings");
      return;
    }
    refused(ErrorCode::io, [&] {
      expect(file_.elements_of(tensor).bytes().size() == tensor.byte_count(), "elements have as many bytes");
    });
  }

  onnx::file::ModelFile& file_;
  std::size_t file_bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const MemoryFile file(bytes, count);
  refused(ErrorCode::io, [&] {
    onnx::file::ModelFile model(file.path());
    Walk walk(model, count);
    walk.visit(model.model().graph);
    for (const onnx::file::Function& function : model.model().functions) {
      walk.visit(function.nodes);
      walk.visit(function.default_attributes);
    }
  });
  return 0;
}
