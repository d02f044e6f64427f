// Kernels of the user's.
#include "crisol/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/forked.h"
#include "base/text.h"
#include "crisol/dtype_table.h"
#include "crisol/grad_mode.h"
#include "runtime/launch.h"
#include "runtime/program/kernel_signature.h"
#include "tensor/impl.h"
#include "tensor/kernel_args.h"

namespace crisol {

using runtime::KernelParameter;

struct Kernel::Impl {
  std::string name;
  runtime::KernelSignature signature;
  KernelOptions options;
  std::string prelude;  ///< The defines and the source.

  /// The kernel for a device. It is built at the device's first call. Later calls do not hash the source again.
  runtime::BuiltKernel& built_for(runtime::DeviceState& device) const {
    system::check_not_forked();
    const auto find = [&] {
      return std::find_if(built_.begin(), built_.end(), [&](const Built& one) { return one.first == &device; });
    };
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = find(); found != built_.end()) return *found->second;
    }
    runtime::KernelSpec spec{{}, name};
    spec.prelude = prelude;
    spec.options = options.build_options;
    spec.title = name;
    // Compiles without holding the lock, because compiling takes long.
    runtime::BuiltKernel& kernel = runtime::resolve(device, spec);
    const std::lock_guard lock(mutex_);
    if (find() == built_.end()) built_.emplace_back(&device, &kernel);
    return kernel;
  }

 private:
  using Built = std::pair<const runtime::DeviceState*, runtime::BuiltKernel*>;

  mutable std::mutex mutex_;
  mutable std::vector<Built> built_;  ///< A device keeps its kernels as long as the process runs.
};

namespace {

/// The bytes of a number as a kernel gets it.
using NumberBytes = std::array<unsigned char, 8>;

/// Starts a message with the kernel and the parameter.
template <class... Parts>
void require_of(bool rule_holds, const Kernel& kernel, const KernelParameter& parameter, const Parts&... parts) {
  require(rule_holds, kernel.name().c_str(), "argument '", parameter.declaration, "': ", parts...);
}

void check_tensor(const Kernel& kernel, const KernelParameter& parameter, const Tensor& x, const Tensor& first) {
  require_of(x.defined(), kernel, parameter, "the tensor is undefined");
  const char* const type = x.dtype() == DType::bf16 ? "ushort" : number_type(x.dtype());  // OpenCL C has no bf16.
  require_of(parameter.type == type, kernel, parameter, "the tensor has elements of ", x.dtype(), ", which is ", type);
  require_of(x.is_contiguous(), kernel, parameter, "the tensor of shape ", x.shape(), " and strides ", x.strides(),
             " is not contiguous; call contiguous()");
  require_of(x.numel() % parameter.lanes == 0, kernel, parameter, "the tensor has ", x.numel(),
             " elements, which is no multiple of ", parameter.lanes);
  const std::uint64_t position = in(x).offset;
  require_of(position % static_cast<std::uint64_t>(parameter.lanes) == 0, kernel, parameter,
             "the tensor begins at element ", position, " of its memory, which is no multiple of ", parameter.lanes);
  require_of(x.device() == first.device(), kernel, parameter, "the tensor is on ", x.device(), ", another one on ",
             first.device());
  require_of(!grad_enabled() || !x.requires_grad(), kernel, parameter,
             "the tensor wants a gradient, which a kernel does not have; call it in the forward of custom_function, or "
             "under NoGrad");
}

template <class T>
bool store_whole(std::int64_t value, NumberBytes& bytes) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (value < 0) return false;
  } else if (value < static_cast<std::int64_t>(std::numeric_limits<T>::min()) ||
             value > static_cast<std::int64_t>(std::numeric_limits<T>::max())) {
    return false;
  }
  const T converted = static_cast<T>(value);
  std::memcpy(bytes.data(), &converted, sizeof converted);
  return true;
}

struct NumberType {
  const char* name;
  std::size_t size;
  bool (*store)(std::int64_t value, NumberBytes& bytes);  ///< Returns false if the type does not hold the value.
};

constexpr NumberType whole_types[] = {
    {"char", 1, store_whole<std::int8_t>},   {"uchar", 1, store_whole<std::uint8_t>},
    {"short", 2, store_whole<std::int16_t>}, {"ushort", 2, store_whole<std::uint16_t>},
    {"int", 4, store_whole<std::int32_t>},   {"uint", 4, store_whole<std::uint32_t>},
    {"long", 8, store_whole<std::int64_t>},  {"ulong", 8, store_whole<std::uint64_t>},
};

/// Converts a number to the type of the parameter. Returns the size.
std::size_t convert(const Kernel& kernel, const KernelParameter& parameter, const Scalar& number, NumberBytes& bytes) {
  if (parameter.type == "float") {
    const auto value = static_cast<float>(number.as_double());
    std::memcpy(bytes.data(), &value, sizeof value);
    return sizeof value;
  }
  if (parameter.type == "double") {
    const double value = number.as_double();
    std::memcpy(bytes.data(), &value, sizeof value);
    return sizeof value;
  }
  const NumberType& type = *std::find_if(std::begin(whole_types), std::end(whole_types),
                                         [&](const NumberType& one) { return parameter.type == one.name; });
  const double real = number.as_double();
  if (is_floating(number.dtype()))
    require_of(std::trunc(real) == real && std::abs(real) < 9.2e18, kernel, parameter, "the number ", real,
               " is no whole number of 64 bits");
  const std::int64_t whole = number.as_int();
  require_of(type.store(whole, bytes), kernel, parameter, "the number ", whole, " does not fit into ", parameter.type);
  return type.size;
}

std::string prelude_of(const KernelOptions& options, const std::string& source) {
  std::string text;
  for (const auto& [name, value] : options.defines) text += concat("#define ", name, ' ', value, '\n');
  return text + source;
}

runtime::NdRange range_of(const Kernel& kernel, const KernelOptions& options, const Shape& range,
                          const DeviceInfo& info) {
  const char* const op = kernel.name().c_str();
  require(range.rank() >= 1 && range.rank() <= 3, op, "range ", range, " has ", range.rank(), " sizes, not 1 to 3");
  const Shape& group = options.group;
  require(group.empty() || group.rank() == range.rank(), op, "range ", range, " and group ", group,
          " have different counts of sizes");
  require(static_cast<std::uint64_t>(group.numel()) <= info.max_work_group, op, "group ", group,
          " has more work-items than the device's limit of ", info.max_work_group);
  runtime::NdRange nd({}, {});
  nd.dimensions = range.rank();
  for (int d = 0; d < range.rank(); ++d) {
    require(range[d] >= 0, op, "range ", range, " has a negative size");
    require(group.empty() || range[d] % group[d] == 0, op, "range ", range, " is no multiple of group ", group,
            "; round it up, and let the kernel return where its id is too large");
    nd.global[static_cast<std::size_t>(d)] = static_cast<std::size_t>(range[d]);
    if (!group.empty()) nd.local[static_cast<std::size_t>(d)] = static_cast<std::size_t>(group[d]);
  }
  return nd;
}

}  // namespace

Kernel::Kernel(const std::string& source, const std::string& name, const KernelOptions& options) {
  constexpr const char* op = "Kernel";
  auto impl = std::make_shared<Impl>();
  impl->name = name;
  impl->options = options;
  require(options.group.rank() <= 3, op, "group ", options.group, " has more than 3 sizes");
  for (const std::int64_t size : options.group)
    require(size > 0, op, "group ", options.group, " has a size that is not positive");
  impl->signature = runtime::read_signature(op, source, name, options.defines);
  impl->prelude = prelude_of(options, impl->signature.source);
  impl_ = std::move(impl);
}

const std::string& Kernel::name() const noexcept { return impl_->name; }

void Kernel::run(const Shape& range, const std::vector<Operand>& arguments) const {
  const std::vector<KernelParameter>& parameters = impl_->signature.parameters;
  const char* const op = impl_->name.c_str();
  require(arguments.size() == parameters.size(), op, arguments.size(), " arguments given, the kernel has ",
          parameters.size(), " parameters");
  const auto with_tensor =
      std::find_if(arguments.begin(), arguments.end(), [](const Operand& one) { return one.tensor() != nullptr; });
  require(with_tensor != arguments.end(), op, "no argument is a tensor");
  std::vector<NumberBytes> numbers(arguments.size());
  std::vector<runtime::KernelArg> list(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const KernelParameter& parameter = parameters[i];
    const Tensor* const tensor = arguments[i].tensor();
    require_of(parameter.pointer == (tensor != nullptr), *this, parameter, "a ",
               tensor != nullptr ? "tensor" : "number", " is given");
    if (tensor != nullptr) {
      check_tensor(*this, parameter, *tensor, *with_tensor->tensor());
      list[i] = in(*tensor);
    } else {
      list[i] = runtime::KernelArg(numbers[i].data(), convert(*this, parameter, arguments[i].number(), numbers[i]));
    }
  }
  runtime::DeviceState& device = state_of(*with_tensor->tensor());
  const runtime::NdRange nd = range_of(*this, impl_->options, range, runtime::info_of(device));
  runtime::BuiltKernel& kernel = impl_->built_for(device);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (parameters[i].written) out(*arguments[i].tensor());
  runtime::enqueue(device, kernel, nd, list.data(), list.size());
}

}  // namespace crisol
