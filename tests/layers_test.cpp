// Checks the order of the layers by the includes of lib/, include/ and tools/. A file includes only its own layer and
// earlier layers. OpenCL stays in the runtime, and public headers contain no OpenCL type. One file asks for vendors.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctest/doctest.h"

namespace {

namespace fs = std::filesystem;

constexpr std::array layers{"base",  "runtime", "dispatch", "measure", "tensor", "ops",  "autograd", "functions",
                            "graph", "nn",      "optim",    "io",      "onnx",   "dist", "c_api",    "cli"};

// The layer of a public header, by its path below include/crisol/: a file or a folder.
constexpr std::pair<std::string_view, std::string_view> public_layers[]{
    {"error.h", "base"},
    {"scalar.h", "base"},
    {"dtype.h", "base"},
    {"dtypes.def", "base"},
    {"dtype_table.h", "base"},
    {"shape.h", "base"},
    {"export.h", "base"},
    {"version.h", "base"},
    {"device.h", "runtime"},
    {"kernel_cache.h", "runtime"},
    {"precision.h", "runtime"},
    {"profile.h", "runtime"},
    {"trace.h", "runtime"},
    {"tuning.h", "dispatch"},
    {"verification.h", "dispatch"},
    {"ops/workspace.h", "dispatch"},
    {"ops.h", "ops"},
    {"indexing.h", "tensor"},
    {"tensor.h", "tensor"},
    {"random.h", "tensor"},
    {"named_tensors.h", "tensor"},
    {"grad_mode.h", "tensor"},
    {"hook.h", "tensor"},
    {"opencl_interop.h", "tensor"},
    {"host_access.h", "tensor"},
    {"gradients.h", "autograd"},
    {"graph_parts.h", "autograd"},
    {"capture.h", "tensor"},
    {"captured_function.h", "graph"},
    {"replay_calls.h", "tensor"},
    {"kernel.h", "tensor"},
    {"options/", "tensor"},
    {"ops/pointwise.def", "base"},  // Data, from which members of Tensor are made too.
    {"ops/pointwise_parameters.h", "base"},
    {"ops/", "ops"},
    {"autocast.h", "autograd"},
    {"autograd.h", "autograd"},
    {"functions/", "functions"},
    {"expr.h", "functions"},
    {"fuse.h", "functions"},
    {"quantized_weight.h", "ops"},
    {"nn/", "nn"},
    {"optim.h", "optim"},
    {"optim/", "optim"},
    {"io/", "io"},
    {"onnx.h", "onnx"},
    {"onnx_parts.h", "onnx"},
    {"compile.h", "onnx"},
    {"training.h", "io"},
    {"dist.h", "dist"},
    {"dist/", "dist"},
    {"c/", "c_api"},
    {"crisol.h", "onnx"},  // Includes all of the C++ interface.
};

constexpr std::string_view interop = "include/crisol/opencl_interop.h";

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return text.starts_with(start); });
}

std::optional<std::size_t> rank_of(std::string_view layer) {
  const auto found = std::find(layers.begin(), layers.end(), layer);
  if (found == layers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - layers.begin());
}

/// Position in the layer order of a path as includes write it ("ops/conv.h", "crisol/ops/conv.h").
std::optional<std::size_t> rank_of_include(std::string_view path) {
  if (!path.starts_with("crisol/")) return rank_of(path.substr(0, path.find('/')));
  path.remove_prefix(std::string_view("crisol/").size());
  for (const auto& [name, layer] : public_layers) {
    if (name.ends_with('/') ? path.starts_with(name) : path == name) return rank_of(layer);
  }
  return std::nullopt;
}

struct Include {
  std::string path;
  bool quoted;
};

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex directive(R"(^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"])");
  std::vector<Include> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, directive)) found.push_back({match[2], match[1] == "\""});
  }
  return found;
}

/// Returns only the code: comments become blanks.
std::string without_comments(const std::string& text) {
  static const std::regex noise(R"(("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)");
  return std::regex_replace(text, noise, "$1 ");
}

/// The contents of literals become blanks too.
std::string without_comments_and_literals(const std::string& text) {
  static const std::regex literal(R"("(?:[^"\\\n]|\\.)*")");
  return std::regex_replace(without_comments(text), literal, " ");
}

/// Describes the fault of an include of `file`. Empty if there is none. `file` is a path from the repository's
/// root.
std::string fault_of(const std::string& file, const Include& include) {
  const std::string arrow = file + " includes " + include.path + ": ";
  const bool is_public = file.starts_with("include/");
  const std::string own = file.substr(file.find('/') + 1);
  if (starts_with_any(include.path, {"CL/", "OpenCL/", "clblast"})) {
    return starts_with_any(file, {"lib/runtime/", "tools/null_driver/"}) || file == interop
               ? ""
               : arrow + "OpenCL belongs to lib/runtime";
  }
  if (!include.quoted && !include.path.starts_with("crisol/")) return "";
  if (is_public && !include.path.starts_with("crisol/")) return arrow + "public headers include public headers only";
  if (starts_with_any(include.path, {"reference/", "rerun/"})) {
    const bool may = starts_with_any(own, {"rerun/", "cli/"}) ||
                     (own.starts_with("reference/") && include.path.starts_with("reference/"));
    return may ? "" : arrow + "the references are for verification, cli and the tests";
  }
  if (include.path.starts_with("null_driver/")) {
    return starts_with_any(own, {"null_driver/", "cli/"}) ? "" : arrow + "the null driver is a program of its own";
  }
  // Headers of cl_kernels/ that the host shares.
  if (starts_with_any(include.path,
                      {"attention/", "common/", "conv/", "decompose/", "layout/", "norm/", "optim/flags.h", "pool/",
                       "product/", "quantized/", "reduce/", "rnn/", "rowwise/", "sort/", "vision/"})) {
    return starts_with_any(own, {"dispatch/", "ops/"}) ? "" : arrow + "the kernels' headers are for dispatch and ops";
  }
  const auto to = rank_of_include(include.path);
  if (!to) return arrow + "no layer is known for it (write paths from the root of lib/)";
  if (starts_with_any(own, {"reference/", "rerun/"})) {
    const bool may = starts_with_any(include.path, {"crisol/", "base/"}) ||
                     (own.starts_with("rerun/trials/") && include.path == "dispatch/trials.h") ||
                     (own.starts_with("rerun/") && include.path == "functions/conv/in_blocks.h");
    return may ? "" : arrow + "a reference sees public headers and base";
  }
  if (own.starts_with("null_driver/")) {
    return include.path == "crisol/device.h" ? ""
                                             : arrow + "the null driver sees no more of the library than DeviceInfo";
  }
  const auto from = rank_of_include(own);
  if (!from) return file + ": no layer is known for it";
  if (own == "crisol/crisol.h") return "";
  return *to <= *from ? "" : arrow + layers[*to] + " stands to the right of " + layers[*from];
}

/// All violations of the layer order in one file.
std::vector<std::string> faults(const std::string& file, const std::string& text) {
  std::vector<std::string> found;
  for (const Include& include : includes_of(text)) {
    const std::string fault = fault_of(file, include);
    if (!fault.empty()) found.push_back(fault);
  }
  static const std::regex opencl_name(R"(\b_?cl_[a-z]\w*|\bcl::\w+)");
  const std::string code = without_comments_and_literals(text);
  std::smatch match;
  if (file.starts_with("include/") && file != interop && std::regex_search(code, match, opencl_name)) {
    found.push_back(file + " names the OpenCL type " + match.str());
  }
  return found;
}

/// The definitions in a file of lib/ that belong to a namespace of a layer to its left. Their callers would stand to
/// the left of their text, and no include would show the arrow: a function that the later layer sets is the way.
std::vector<std::string> foreign_definitions(const std::string& file, const std::string& text) {
  static const std::regex definition(R"((?:^|\n)\w[\w:<>&*, ]*?\bcrisol::(\w+)::\w+\()");
  const std::string own = file.substr(file.find('/') + 1);
  const auto from = rank_of_include(own);
  std::vector<std::string> found;
  const std::string code = without_comments_and_literals(text);
  for (std::sregex_iterator at(code.begin(), code.end(), definition), end; at != end; ++at) {
    const auto to = rank_of((*at)[1].str());
    if (from && to && *to != *from) found.push_back(file + " defines a function of crisol::" + (*at)[1].str());
  }
  return found;
}

/// Whether a file may ask for a vendor, a platform or an architecture.
bool may_ask_for_vendors(std::string_view file) {
  // The runtime fills DeviceInfo and works around drivers. The list of verified drivers is by platform.
  return starts_with_any(file, {"lib/runtime/", "lib/dispatch/gpu_traits.cpp", "lib/dispatch/stored/verdicts.cpp"});
}

/// The questions for a vendor in one file: a trait with a meaning has to be asked instead.
std::vector<std::string> vendor_questions(const std::string& file, const std::string& text) {
  static const std::regex members(
      R"((\.|->)(vendor|vendor_id|platform_vendor)\b|\bplatform\s*(==|!=|\.)|\binfo(\(\))?(\.|->)name\s*(==|!=|\.))"
      R"(|has_extension\s*\(\s*"cl_(intel|nv|amd|arm|qcom|img)_)");
  // Macros of kernels, in capitals, are no questions.
  static const std::regex names(
      R"([A-Za-z]*(nvidia|Nvidia|intel|Intel|geforce|radeon|adreno|oclgrind|llvmpipe)|\b(is_)?amd(_\w+)?\b|\w+_amd\b)");
  std::vector<std::string> found;
  const auto search = [&](const std::string& code, const std::regex& question) {
    std::smatch match;
    if (std::regex_search(code, match, question)) found.push_back(file + " asks for a vendor: " + match.str());
  };
  if (may_ask_for_vendors(file)) return found;
  search(without_comments(text), members);
  search(without_comments_and_literals(text), names);
  return found;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("layers: includes of lib/, include/ and tools/ point to the left") {
  const fs::path root = CRISOL_SOURCE_DIR;
  int files = 0;
  for (const char* folder : {"lib", "include", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp" && extension != ".def") continue;
      ++files;
      const std::string file = fs::relative(entry.path(), root).generic_string(), text = read(entry.path());
      for (const std::string& fault : faults(file, text)) FAIL_CHECK(fault);
      for (const std::string& fault : foreign_definitions(file, text)) FAIL_CHECK(fault);
    }
  }
  CHECK(files > 10);
}

TEST_CASE("layers: lib/ asks for vendors in one file") {
  const fs::path root = CRISOL_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "lib")) {
    const fs::path extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp" && extension != ".def") continue;
    const std::string file = fs::relative(entry.path(), root).generic_string();
    for (const std::string& question : vendor_questions(file, read(entry.path()))) FAIL_CHECK(question);
  }
  const auto count = [](const char* file, const char* text) { return vendor_questions(file, text).size(); };
  const std::string traits = read(root / "lib/dispatch/gpu_traits.cpp");
  CHECK(count("lib/dispatch/gpu_traits.cpp", traits.c_str()) == 0);
  CHECK(count("lib/ops/conv/conv2d.cpp", traits.c_str()) == 2);
  for (const char* question : {"target.info.vendor_id == 0x1002", "device->vendor", "info.platform == \"NVIDIA CUDA\"",
                               "info.platform.find(\"AMD\")", "info.name.rfind(\"gfx9\", 0)",
                               "device.info().name.find(\"GeForce\")", "has_extension(\"cl_intel_subgroups\")",
                               "is_gpu_of(vendor_amd, info)", "target.nvidia_shuffles", "is_intel(kind)"}) {
    CAPTURE(std::string(question));
    CHECK(count("lib/ops/conv/conv2d.cpp", question) == 1);
    CHECK(count("lib/runtime/memory/transfer.cpp", question) == 0);
  }
  for (const char* code :
       {"// On AMD: vendor_amd.", "defines.add({\"NVIDIA_SHUFFLES\", 1});", "traits.shuffle", "info.name",
        "normalized_axis(x)", "has_extension(\"cl_khr_fp16\")", "fail(\"Intel's driver: \", info.name)"}) {
    CAPTURE(std::string(code));
    CHECK(count("lib/ops/conv/conv2d.cpp", code) == 0);
  }
}

TEST_CASE("layers: functions and layers leave it to autograd what the thread wants beside a result") {
  const fs::path root = CRISOL_SOURCE_DIR;
  for (const char* folder : {"functions", "nn", "optim", "onnx"})
    for (const auto& entry : fs::recursive_directory_iterator(root / "lib" / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = read(entry.path());
      CAPTURE(entry.path().generic_string());
      CHECK(text.find("current_trace()") == std::string::npos);
      CHECK(text.find("detects_anomaly()") == std::string::npos);
      // Files are a matter of lib/onnx alone.
      const bool speaks_onnx = text.find("ONNX Runtime") != std::string::npos;
      CHECK((folder == std::string_view("onnx") || !speaks_onnx));
    }
}

TEST_CASE("layers: a wrong arrow is reported, a right one is not") {
  const auto count = [](const char* file, const char* text) { return faults(file, text).size(); };

  SUBCASE("order") {
    CHECK(count("lib/tensor/view.cpp", "#include \"ops/copy.h\"\n") == 1);
    CHECK(count("lib/runtime/launch.h", "  # include <crisol/tensor.h>\n") == 1);
    CHECK(count("lib/ops/conv.cpp", "#include \"crisol/functions/conv.h\"\n") == 1);
    CHECK(count("lib/nn/linear.cpp", "#include \"crisol/optim.h\"\n#include \"io/idx.h\"\n") == 2);
    CHECK(count("include/crisol/ops/conv.h", "#include \"crisol/nn/module.h\"\n") == 1);
    CHECK(count("include/crisol/device.h", "#include \"crisol/tensor.h\"\n") == 1);
    CHECK(count("lib/ops/conv.cpp", "#include \"crisol/crisol.h\"\n") == 1);
    CHECK(count("lib/ops/conv.cpp", "#include \"crisol/tensor.h\"\n#include \"runtime/launch.h\"\n") == 0);
    CHECK(count("lib/functions/conv/conv.cpp", "#include \"autograd/record.h\"\n#include <vector>\n") == 0);
    CHECK(count("lib/autograd/engine.cpp", "// #include \"nn/module.h\"\n") == 0);
    CHECK(count("include/crisol/crisol.h", "#include \"crisol/io/idx.h\"\n#include \"crisol/error.h\"\n") == 0);
  }
  SUBCASE("definitions for a layer to the left") {
    const auto definitions = [](const char* file, const char* text) { return foreign_definitions(file, text).size(); };
    CHECK(definitions("lib/ops/probe/shuffle.cpp", "\nbool crisol::dispatch::probe(State& device) {\n") == 1);
    CHECK(definitions("lib/dispatch/target.cpp", "bool crisol::dispatch::probe(State& device) {\n") == 0);
    CHECK(definitions("lib/ops/probe/shuffle.cpp", "\n  return crisol::dispatch::probe(device);\n") == 0);
    CHECK(definitions("lib/ops/probe/shuffle.cpp", "\n// bool crisol::dispatch::probe(State& device) {\n") == 0);
  }
  SUBCASE("paths without a layer") {
    CHECK(count("lib/ops/conv.cpp", "#include \"conv.h\"\n") == 1);
    CHECK(count("lib/ops/conv.cpp", "#include \"crisol/unheard_of.h\"\n") == 1);
    CHECK(count("lib/extra/file.cpp", "#include \"base/text.h\"\n") == 1);
  }
  SUBCASE("public headers include public headers only") {
    CHECK(count("include/crisol/tensor.h", "#include \"base/text.h\"\n") == 1);
  }
  SUBCASE("references stand beside the layers") {
    CHECK(count("lib/ops/conv.cpp", "#include \"reference/conv.h\"\n") == 1);
    CHECK(count("lib/reference/conv.cpp", "#include \"runtime/launch.h\"\n") == 1);
    CHECK(count("lib/ops/conv.cpp", "#include \"rerun/rerun.h\"\n") == 1);
    CHECK(count("lib/reference/conv.cpp", "#include \"rerun/rerun.h\"\n") == 1);
    CHECK(count("lib/rerun/rows.cpp", "#include \"dispatch/choose.h\"\n") == 1);
    CHECK(count("lib/rerun/rows.cpp", "#include \"dispatch/trials.h\"\n") == 1);
    CHECK(count("lib/rerun/trials/trials.cpp", "#include \"dispatch/trials.h\"\n") == 0);
    CHECK(count("lib/rerun/trials/trials.cpp", "#include \"dispatch/choose.h\"\n") == 1);
    CHECK(count("lib/rerun/rows.cpp", "#include \"crisol/ops/norm.h\"\n#include \"reference/norm.h\"\n") == 0);
    CHECK(count("lib/dispatch/verification.cpp", "#include \"rerun/rerun.h\"\n") == 1);
    CHECK(count("lib/dispatch/verification.cpp", "#include \"reference/compare.h\"\n") == 1);
    CHECK(count("tools/cli/selftest.cpp", "#include \"reference/conv.h\"\n") == 0);
    CHECK(count("lib/reference/conv.cpp", "#include \"reference/conv.h\"\n#include \"crisol/nn/module.h\"\n") == 0);
  }
  SUBCASE("headers that kernels and the host share") {
    CHECK(count("lib/ops/conv/conv2d.cpp", "#include \"product/parameters.h\"\n") == 0);
    CHECK(count("lib/tensor/view.cpp", "#include \"product/parameters.h\"\n") == 1);
  }
  SUBCASE("the null driver is no part of the library") {
    CHECK(count("tools/null_driver/facts.cpp", "#include <CL/cl.h>\n#include \"null_driver/facts.h\"\n") == 0);
    CHECK(count("tools/null_driver/facts.cpp", "#include \"runtime/launch.h\"\n") == 1);
    CHECK(count("lib/runtime/launch.cpp", "#include \"null_driver/control.h\"\n") == 1);
    CHECK(count("tools/cli/kernels.cpp", "#include \"null_driver/control.h\"\n") == 0);
  }
  SUBCASE("OpenCL") {
    CHECK(count("lib/ops/product/matmul.cpp", "#include <CL/opencl.hpp>\n") == 1);
    CHECK(count("lib/ops/product/matmul.cpp", "#include <clblast_c.h>\n") == 1);
    CHECK(count("lib/runtime/cl.h", "#include <CL/opencl.hpp>\n") == 0);
    CHECK(count("include/crisol/tensor.h", "#include <CL/cl.h>\nstruct T { cl_mem memory; };\n") == 2);
    CHECK(count("include/crisol/tensor.h", "struct _cl_mem;\n") == 1);
    CHECK(count("include/crisol/tensor.h", "cl::Buffer buffer();\n") == 1);
    CHECK(count("include/crisol/device.h", "bool fp16;  ///< cl_khr_fp16\nauto x = \"cl_mem\"; /* cl_mem */\n") == 0);
    CHECK(count("include/crisol/opencl_interop.h", "#include <CL/cl.h>\ncl_mem memory();\n") == 0);
  }
}
