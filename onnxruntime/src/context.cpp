#include "context.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "crisol/version.h"
#include "graph_parts.h"

namespace crisol::ort {

namespace {

namespace fs = std::filesystem;

constexpr const char* context_domain = "com.microsoft";

/// ONNX Runtime's and crisol's texts are UTF-8 on all systems.
fs::path path_of(const std::string& text) { return {std::u8string(text.begin(), text.end())}; }
std::string text_of(const fs::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

/// The stored model. It has the path of the session's options, or else that of the graph with `ending`.
fs::path stored_model(const OrtGraph* graph, const ContextOptions& options, const char* ending) {
  if (!options.path.empty()) return path_of(options.path);
  const fs::path own(get<const PathChar*>(api().Graph_GetModelPath, graph));
  if (own.empty())
    throw RuntimeError(
        "[crisol] the model has no path, so the files of EPContext nodes have no folder: set ep.context_file_path, or "
        "ep.context_embed_mode to 1");
  return own.parent_path() / (text_of(own.stem()) + ending);
}

/// The setting of a node, or nothing.
template <class T>
const T* setting_of(const onnx::NodeParts& node, const char* name) {
  const auto at = std::find_if(node.attributes.begin(), node.attributes.end(),
                               [&](const onnx::AttributeParts& one) { return one.name == name; });
  return at == node.attributes.end() ? nullptr : std::get_if<T>(&at->value);
}

/// Settings of a new node.
class Attributes {
 public:
  Attributes() = default;
  ~Attributes() {
    for (OrtOpAttr* one : all_) api().ReleaseOpAttr(one);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  void add(const char* name, std::int64_t value) { add(name, &value, 1, AttributeType::integer); }
  void add(const char* name, const std::string& text) {
    constexpr std::size_t most = std::numeric_limits<int>::max();
    if (text.size() > most)
      throw RuntimeError("[crisol] the data of an EPContext node take " + std::to_string(text.size()) +
                         " bytes, and a node holds at most " + std::to_string(most) +
                         ": set ep.context_embed_mode to 0");
    add(name, text.data(), static_cast<int>(text.size()), AttributeType::text);
  }
  std::vector<OrtOpAttr*>& all() noexcept { return all_; }

 private:
  void add(const char* name, const void* data, int count, AttributeType type) {
    all_.push_back(get<OrtOpAttr*>(api().CreateOpAttr, name, data, count, static_cast<int>(type)));
  }

  std::vector<OrtOpAttr*> all_;
};

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw RuntimeError("[crisol] the file of an EPContext node cannot be written: " + text_of(path));
}

}  // namespace

bool is_context(const onnx::NodeParts& node) {
  const auto* source = setting_of<std::string>(node, "source");
  return node.op == context_op && node.domain == context_domain && source != nullptr && *source == provider_name;
}

OrtNode* make_context(const onnx::ModelParts& parts, const OrtGraph* graph, const OrtNode* fused,
                      const ContextOptions& options) {
  const std::string name = get<const char*>(api().Node_GetName, fused);
  std::string data = onnx::file_of(parts);
  if (!options.has_embedded_data) {
    const fs::path model = stored_model(graph, options, "_ctx.onnx");
    const std::string file = text_of(model.stem()) + '_' + name + ".onnx";
    write_file(model.parent_path() / path_of(file), data);
    data = file;
  }
  Attributes attributes;
  attributes.add("main_context", 1);
  attributes.add("embed_mode", options.has_embedded_data ? 1 : 0);
  attributes.add("ep_cache_context", data);
  attributes.add("ep_sdk_version", std::string(version()));
  attributes.add("partition_name", name);
  attributes.add("source", std::string(provider_name));
  std::vector<const char*> inputs, outputs;
  for (const onnx::ValueParts& one : parts.graph.inputs) inputs.push_back(one.name.c_str());
  for (const onnx::ValueParts& one : parts.graph.outputs) outputs.push_back(one.name.c_str());
  return get<OrtNode*>(api().GetModelEditorApi()->CreateNode, context_op, context_domain, name.c_str(), inputs.data(),
                       inputs.size(), outputs.data(), outputs.size(), attributes.all().data(), attributes.all().size());
}

onnx::Model load_context(const onnx::NodeParts& node, const OrtGraph* graph, const Options& options) {
  if (options.context.is_stored)
    throw RuntimeError("[crisol] ep.context_enable is 1, and the model has EPContext nodes already");
  const auto* data = setting_of<std::string>(node, "ep_cache_context");
  if (data == nullptr) throw RuntimeError("[crisol] the EPContext node " + node.name + " has no ep_cache_context");
  const auto* is_embedded = setting_of<std::int64_t>(node, "embed_mode");
  if (is_embedded == nullptr || *is_embedded != 0)  // 1 is the default.
    return onnx::load_bytes("the EPContext node " + node.name, *data, options.device);
  const fs::path file = path_of(*data);
  if (file.is_absolute() || file.has_root_path() || std::find(file.begin(), file.end(), "..") != file.end())
    throw RuntimeError("[crisol] the EPContext node " + node.name + " names the file " + *data +
                       ": only files in the model's folder are allowed");
  return onnx::load(text_of(stored_model(graph, options.context, ".onnx").parent_path() / file), options.device);
}

}  // namespace crisol::ort
