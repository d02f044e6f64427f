#include "ops/pointwise/pointwise_kernels.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "dispatch/device_defines.h"
#include "ops/pointwise/pointwise_source.h"

namespace crisol::ops {

namespace {

using dispatch::Target;
using Form = PointwiseKernels::Form;

// A kernel that only moves elements knows nothing of them but their size. Four bytes are moved as a float, because PoCL
// splits vectors of other types.
const char* moved_type(std::size_t size) noexcept {
  return size == 1 ? "uchar" : size == 2 ? "ushort" : size == 4 ? "float" : "long";
}
DType moving_register(std::size_t size) noexcept { return size < 4 ? DType::i32 : size == 4 ? DType::f32 : DType::i64; }

/// Whether the kernel computes, and all inputs and outputs are bf16.
bool computes_bf16(const PointwiseGraph& graph) noexcept {
  bool is = !graph.only_moves();
  for (std::size_t i = 0; i < graph.input_count(); ++i) is = is && graph.input_dtype(i) == DType::bf16;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) is = is && graph.output_dtype(i) == DType::bf16;
  return is;
}

int width_of(const Target& target, Form form) noexcept { return form < Form::flat ? target.cpu_vector_width() : 4; }

int rank_of(Form form) noexcept {
  switch (form) {
    case Form::item_vectors_2:
    case Form::items_2:
    case Form::items_2_long: return 2;
    case Form::rows_4:
    case Form::rows_stream_4:
    case Form::short_rows_4:
    case Form::item_vectors_4:
    case Form::items_4:
    case Form::items_4_long: return 4;
    default: return 8;
  }
}

// The graph of a kernel that only moves elements.
PointwiseGraph as_moves(const PointwiseGraph& graph) {
  PointwiseGraph moves;
  for (std::size_t i = 0; i < graph.input_count(); ++i) moves.input(moving_register(size_of(graph.input_dtype(i))));
  for (const int output : graph.outputs()) moves.output(graph[output].index);
  return moves;
}

}  // namespace

PointwiseKernels::PointwiseKernels(const PointwiseGraph& graph, std::int64_t number) : graph_(graph), number_(number) {
  const auto limit = [](std::size_t count, std::size_t most, const char* what) {
    require(count <= most, "pointwise", "a kernel can have ", most, ' ', what, ", ", count, " are given");
  };
  limit(graph.input_count(), PointwiseGraph::max_inputs, "tensors");
  limit(graph.scalar_count(), PointwiseGraph::max_scalars, "numbers");
  limit(graph.outputs().size(), PointwiseGraph::max_outputs, "results");
  // A second thread must gain more time than it takes to wake it. The unit is a read or write of an element, and a
  // function call costs about fourteen units.
  constexpr std::int64_t of_function = 14, per_item = 262144;
  const std::int64_t cost = static_cast<std::int64_t>(graph.input_count() + graph.outputs().size()) +
                            of_function * static_cast<std::int64_t>(function_calls(graph));
  min_chunk_ = std::max<std::int64_t>(8192, per_item / cost);
  // A lane of a vector over several rows takes two loops. An integer power takes up to 63 rounds for a vector. fmod
  // takes a round for each bit by which the exponents differ.
  loop_rounds_ = 12 + 300 * static_cast<std::int64_t>(function_calls(graph, "fmod"));
}

std::string PointwiseKernels::text_of(bool one, int width) const {
  const bool moves = graph_.only_moves();
  std::ostringstream text;
  const auto list = [&](const char* name, std::size_t count, auto dtype_of) {
    text << "#define " << name << "(M)";
    for (std::size_t i = 0; i < count; ++i) {
      const DType dtype = dtype_of(i);
      text << " M(" << i << ", " << (moves ? moved_type(size_of(dtype)) : memory_type(dtype)) << ", "
           << register_type(moves ? moving_register(size_of(dtype)) : dtype) << ')';
    }
    text << '\n';
  };
  list("EACH_INPUT", graph_.input_count(), [&](std::size_t i) { return graph_.input_dtype(i); });
  list("EACH_OUTPUT", graph_.outputs().size(), [&](std::size_t i) { return graph_.output_dtype(i); });
  list("EACH_SCALAR", graph_.scalar_count(), [&](std::size_t i) { return graph_.scalar_dtype(i); });
  text << "#define CALL(f) f(";
  const char* separator = "";
  const auto names = [&](const char* name, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      text << separator << name << i;
      separator = ", ";
    }
  };
  names("x", graph_.input_count());
  names("s", graph_.scalar_count());
  names("&y", graph_.outputs().size());
  text << ")\n";
  const PointwiseGraph& source = moves ? as_moves(graph_) : graph_;
  text << includes_of(source)
       << function_of(source, one ? "of_one" : "of_vector", one ? std::string() : std::to_string(width));
  return text.str();
}

const std::string& PointwiseKernels::prelude(const Target& target, Form form) const {
  const bool one = form >= Form::items_2;
  const int width = width_of(target, form);
  const std::lock_guard lock(mutex_);
  std::string& text = preludes_[one ? 1 : width];
  if (text.empty()) text = text_of(one, width);
  return text;
}

runtime::KernelSpec PointwiseKernels::spec(const Target& target, Form form, bool in_place,
                                           std::string_view prelude) const {
  const DeviceInfo& info = target.info;
  runtime::KernelSpec spec{"pointwise/pointwise.cl", "flat", {}, prelude};
  spec.exact_division = info.type != DeviceType::cpu;  // CPUs divide exactly by default.
  spec.defines.add({"VW", width_of(target, form)});
  if (in_place) spec.defines.add({"IN_PLACE", 1});
  dispatch::define_math(spec.defines, info);
  if (form == Form::flat_stream || form == Form::rows_stream_4) {
    spec.defines.add({"STREAM", 1});
    if (computes_bf16(graph())) spec.defines.add({"PAIRS", 1});
  }
  if (form >= Form::flat_whole_vectors && form < Form::items_2) spec.defines.add({"WHOLE_VECTORS", 1});
  const bool rows = form == Form::rows_4 || form == Form::rows_stream_4 || form == Form::rows_8;
  if (rows || form == Form::short_rows_4 || form == Form::short_rows_8) {
    spec.entry = rows ? "rows" : "short_rows";
    spec.defines.add({rows ? "ROWS" : "SHORT_ROWS", 1});
    spec.defines.add({"RANK", rank_of(form)});
  }
  if (form >= Form::item_vectors_2) {
    const bool vectors = form < Form::items_2;
    spec.entry = vectors ? "item_vectors" : "items";
    spec.defines.add({vectors ? "ITEM_VECTORS" : "ITEMS", 1});
    spec.defines.add({"RANK", rank_of(form)});
    spec.defines.add({"INDEX", form >= Form::items_2_long ? "ulong" : "uint"});
  }
  return spec;
}

namespace {

/// All graphs of this process. They are never destroyed, because threads may outlive static objects.
struct AllKernels {
  std::mutex mutex;
  std::unordered_map<std::string, const PointwiseKernels*> by_graph;
  std::vector<std::unique_ptr<const PointwiseKernels>> by_number;
};
AllKernels& all_kernels() {
  static auto& all = *new AllKernels;
  return all;
}

}  // namespace

const PointwiseKernels& kernels_of(const PointwiseGraph& graph) {
  AllKernels& all = all_kernels();
  const std::lock_guard lock(all.mutex);
  const PointwiseKernels*& kernels = all.by_graph[graph.key()];
  if (kernels == nullptr) {
    const auto number = static_cast<std::int64_t>(all.by_number.size());
    kernels = all.by_number.emplace_back(std::make_unique<const PointwiseKernels>(graph, number)).get();
  }
  return *kernels;
}

const PointwiseKernels& kernels_numbered(std::int64_t number) {
  AllKernels& all = all_kernels();
  const std::lock_guard lock(all.mutex);
  return *all.by_number[static_cast<std::size_t>(number)];
}

}  // namespace crisol::ops
