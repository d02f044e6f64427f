#include "ops/pointwise_program.h"

#include <algorithm>
#include <sstream>

#include "base/text.h"

namespace crisol::ops {

namespace {

// The type of an element in memory; `raw` moves halves without looking into them.
const char* memory_type(DType dtype, bool raw) {
  switch (dtype) {
    case DType::f32: return "float";
    case DType::f16: return raw ? "ushort" : "half";
    case DType::i32: return "int";
    case DType::i64: return "long";
    case DType::u8: return "uchar";
    case DType::boolean: return raw ? "uchar" : "boolean";
  }
  return "";
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

}  // namespace

PointwiseProgram::PointwiseProgram(const Snippet& snippet, std::initializer_list<DType> inputs, DType output,
                                   bool in_place)
    : op_(snippet.op), inputs_(inputs), output_(output) {
  const auto any = [&](DType dtype) {
    return output == dtype || std::find(inputs_.begin(), inputs_.end(), dtype) != inputs_.end();
  };
  computed_ = any(DType::f32) || any(DType::f16) ? DType::f32 : any(DType::i64) ? DType::i64 : DType::i32;
  // A mere copy moves elements as they are.
  const bool raw = inputs_.size() == 1 && inputs_[0] == output && std::string_view(snippet.expression) == "x";
  const char* computed = memory_type(raw ? output : computed_, raw);

  const std::string arguments = snippet.arguments;
  const std::size_t bar = std::min(arguments.find('|'), arguments.size());
  const std::vector<std::string> tensors = words(arguments.substr(0, bar));
  const std::vector<std::string> scalars = words(bar == arguments.size() ? std::string() : arguments.substr(bar + 1));
  std::ostringstream text;
  text << "#define INPUTS " << inputs_.size() << "\n#define SCALARS " << scalars.size() << '\n';
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    text << "#define X" << i << ' ' << memory_type(inputs_[i], raw) << '\n';
  text << "#define Y " << memory_type(output, raw) << "\n#define S " << computed << '\n';
  if (in_place) text << "#define IN_PLACE\n";
  text << "#define FUNCTION(T, S, name) T name(";
  const char* separator = "";
  const auto add_parameters = [&](const std::vector<std::string>& names, const char* type) {
    for (const std::string& name : names) {
      text << separator << "const " << type << ' ' << name;
      separator = ", ";
    }
  };
  add_parameters(tensors, "T");
  add_parameters(scalars, "S");
  text << ") { return " << snippet.expression << "; }\n";
  prelude_ = text.str();
}

runtime::Kernel& PointwiseProgram::kernel(runtime::DeviceState& device, Form form) const {
  const auto index = static_cast<std::size_t>(Device(device).index());
  std::atomic<runtime::Kernel*>* slot =
      index < cached_devices ? &slots_[index][static_cast<std::size_t>(form)] : nullptr;
  if (slot != nullptr)
    if (runtime::Kernel* known = slot->load(std::memory_order_acquire)) return *known;

  runtime::KernelSpec spec{"pointwise.cl", "flat", {}, prelude_};
  const bool for_cpu = form == Form::flat_wide || form == Form::rows;
  spec.defines.add({"VW", for_cpu ? std::max(4, runtime::vector_width(device)) : 4});
  if (form == Form::rows) {
    spec.entry = "rows";
    spec.defines.add({"ROWS", 1});
  }
  if (form == Form::flat_aligned) spec.defines.add({"ALIGNED", 1});
  if (form >= Form::items_2) {
    const int step = static_cast<int>(form) - static_cast<int>(Form::items_2);
    spec.entry = "items";
    spec.defines.add({"RANK", 2 << step % 3});
    spec.defines.add({"INDEX", step < 3 ? "uint" : "ulong"});
  }
  runtime::Kernel& resolved = runtime::resolve(device, spec);
  if (slot != nullptr) slot->store(&resolved, std::memory_order_release);
  return resolved;
}

void PointwiseProgram::check_inputs(Inputs inputs) const {
  require(inputs.size() == inputs_.size(), op_, inputs_.size(), " tensors wanted, ", inputs.size(), " given");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = *inputs[i];
    require(x.defined(), op_, "input ", i, " is undefined");
    require(x.dtype() == inputs_[i], op_, "input ", i, " is ", x.dtype(), ", must be ", inputs_[i],
            "; convert it with to(dtype)");
    require(x.device() == inputs[0]->device(), op_, "input ", i, " is on ", x.device(), ", input 0 on ",
            inputs[0]->device(), "; move it with to(device)");
  }
}

}  // namespace crisol::ops
