#include "runtime/capture/command_buffer.h"

#include <cstring>
#include <optional>

#include "base/text.h"
#include "runtime/device/device_state.h"

namespace crisol::runtime {

// The functions of the extension, declared as in its specification. OpenCL headers declare one version of them, or
// none. From version 0.9.5 on, copies and fills take a list of properties after the queue.
struct CommandBufferCalls {
  using Handle = void*;
  using Properties = const cl_ulong*;
  using Points = const cl_uint*;

  Handle(CL_API_CALL* create)(cl_uint, const cl_command_queue*, Properties, cl_int*);
  cl_int(CL_API_CALL* release)(Handle);
  cl_int(CL_API_CALL* finalize)(Handle);
  cl_int(CL_API_CALL* enqueue)(cl_uint, cl_command_queue*, Handle, cl_uint, const cl_event*, cl_event*);
  cl_int(CL_API_CALL* launch)(Handle, cl_command_queue, Properties, cl_kernel, cl_uint, const std::size_t*,
                              const std::size_t*, const std::size_t*, cl_uint, Points, cl_uint*, void**);
  void* fill;
  void* copy;
  bool properties_for_all;

  using OldFill = cl_int(CL_API_CALL*)(Handle, cl_command_queue, cl_mem, const void*, std::size_t, std::size_t,
                                       std::size_t, cl_uint, Points, cl_uint*, void**);
  using NewFill = cl_int(CL_API_CALL*)(Handle, cl_command_queue, Properties, cl_mem, const void*, std::size_t,
                                       std::size_t, std::size_t, cl_uint, Points, cl_uint*, void**);
  using OldCopy = cl_int(CL_API_CALL*)(Handle, cl_command_queue, cl_mem, cl_mem, std::size_t, std::size_t, std::size_t,
                                       cl_uint, Points, cl_uint*, void**);
  using NewCopy = cl_int(CL_API_CALL*)(Handle, cl_command_queue, Properties, cl_mem, cl_mem, std::size_t, std::size_t,
                                       std::size_t, cl_uint, Points, cl_uint*, void**);
};

namespace {

constexpr cl_device_info extensions_with_version = 0x1060, command_buffer_capabilities = 0x12A9,
                         required_queue_properties = 0x12AA;
constexpr cl_ulong simultaneous_use_capability = 4;
constexpr cl_ulong buffer_flags = 0x1293, simultaneous_use_flag = 1;
constexpr std::uint32_t version_0_9_5 = 9u << 12 | 5u;

std::optional<std::uint32_t> extension_version(const cl::Device& device) {
  struct Named {
    cl_uint version;
    char name[64];
  };
  std::size_t bytes = 0;
  if (clGetDeviceInfo(device(), extensions_with_version, 0, nullptr, &bytes) != CL_SUCCESS) return std::nullopt;
  std::vector<Named> all(bytes / sizeof(Named));
  if (clGetDeviceInfo(device(), extensions_with_version, bytes, all.data(), nullptr) != CL_SUCCESS) return std::nullopt;
  for (const Named& extension : all)
    if (std::strncmp(extension.name, "cl_khr_command_buffer", sizeof extension.name) == 0) return extension.version;
  return std::nullopt;
}

cl_ulong bits_of(const cl::Device& device, cl_device_info what) {
  cl_ulong bits = 0;
  return clGetDeviceInfo(device(), what, sizeof bits, &bits, nullptr) == CL_SUCCESS ? bits : 0;
}

std::unique_ptr<CommandBufferCalls> calls_of(const cl::Device& device, std::uint32_t version) {
  const cl_platform_id platform = device.getInfo<CL_DEVICE_PLATFORM>();
  auto calls = std::make_unique<CommandBufferCalls>();
  bool complete = true;
  const auto get = [&](auto& call, const char* name) {
    void* const address = clGetExtensionFunctionAddressForPlatform(platform, name);
    complete = complete && address != nullptr;
    call = reinterpret_cast<std::decay_t<decltype(call)>>(address);
  };
  get(calls->create, "clCreateCommandBufferKHR");
  get(calls->release, "clReleaseCommandBufferKHR");
  get(calls->finalize, "clFinalizeCommandBufferKHR");
  get(calls->enqueue, "clEnqueueCommandBufferKHR");
  get(calls->launch, "clCommandNDRangeKernelKHR");
  get(calls->fill, "clCommandFillBufferKHR");
  get(calls->copy, "clCommandCopyBufferKHR");
  calls->properties_for_all = version >= version_0_9_5;
  return complete ? std::move(calls) : nullptr;
}

}  // namespace

cl_int CommandBuffer::add(const LaunchCommand& c) {
  const std::size_t* local = c.range.local[0] == 0 ? nullptr : c.range.local.data();
  return calls_->launch(handle_, nullptr, nullptr, c.kernel(), static_cast<cl_uint>(c.range.dimensions), nullptr,
                        c.range.global.data(), local, 0, nullptr, nullptr, nullptr);
}

cl_int CommandBuffer::add(const FillCommand& c) {
  if (calls_->properties_for_all)
    return reinterpret_cast<CommandBufferCalls::NewFill>(calls_->fill)(handle_, nullptr, nullptr, c.memory,
                                                                       c.pattern.data(), c.pattern_size, c.offset,
                                                                       c.size, 0, nullptr, nullptr, nullptr);
  return reinterpret_cast<CommandBufferCalls::OldFill>(calls_->fill)(
      handle_, nullptr, c.memory, c.pattern.data(), c.pattern_size, c.offset, c.size, 0, nullptr, nullptr, nullptr);
}

cl_int CommandBuffer::add(const CopyCommand& c) {
  if (calls_->properties_for_all)
    return reinterpret_cast<CommandBufferCalls::NewCopy>(calls_->copy)(
        handle_, nullptr, nullptr, c.from, c.to, c.from_offset, c.to_offset, c.size, 0, nullptr, nullptr, nullptr);
  return reinterpret_cast<CommandBufferCalls::OldCopy>(calls_->copy)(handle_, nullptr, c.from, c.to, c.from_offset,
                                                                     c.to_offset, c.size, 0, nullptr, nullptr, nullptr);
}

const char* CommandBuffer::make(DeviceState& device, const std::vector<Command>& commands,
                                std::unique_ptr<CommandBuffer>& buffer) {
  for (const Command& command : commands)
    if (std::holds_alternative<ClblastCall>(command)) return "CLBlast queues its own kernels";
  if (!device.info().has_extension("cl_khr_command_buffer")) return "the device has no cl_khr_command_buffer";
  const std::optional<std::uint32_t> version = extension_version(device.device());
  if (!version) return "the device does not tell its version of cl_khr_command_buffer";
  const cl_command_queue queue = device.queue();
  cl_command_queue_properties has = 0;
  check_cl(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof has, &has, nullptr), "clGetCommandQueueInfo");
  if ((bits_of(device.device(), required_queue_properties) & ~has) != 0)
    return "the device wants another kind of queue for its command buffers";

  std::unique_ptr<CommandBuffer> made(new CommandBuffer(queue));
  made->calls_ = calls_of(device.device(), *version);
  if (made->calls_ == nullptr) return "the driver lacks functions of cl_khr_command_buffer";
  made->one_at_a_time_ = (bits_of(device.device(), command_buffer_capabilities) & simultaneous_use_capability) == 0;
  const cl_ulong properties[] = {buffer_flags, simultaneous_use_flag, 0};
  cl_int error = CL_SUCCESS;
  made->handle_ = made->calls_->create(1, &queue, made->one_at_a_time_ ? nullptr : properties, &error);
  check_cl(error, "clCreateCommandBufferKHR");
  for (const Command& command : commands)
    check_cl(std::visit([&](const auto& c) { return made->add(c); }, command), "clCommand…KHR");
  check_cl(made->calls_->finalize(made->handle_), "clFinalizeCommandBufferKHR");
  buffer = std::move(made);
  return nullptr;
}

CommandBuffer::CommandBuffer(cl_command_queue queue) : queue_(queue) {}

CommandBuffer::~CommandBuffer() {
  if (handle_ != nullptr) calls_->release(handle_);
}

void CommandBuffer::enqueue() {
  if (last_() != nullptr) check_cl(last_.wait(), "clWaitForEvents");
  cl_event event = nullptr;
  check_cl(calls_->enqueue(0, nullptr, handle_, 0, nullptr, one_at_a_time_ ? &event : nullptr),
           "clEnqueueCommandBufferKHR");
  if (one_at_a_time_) last_ = cl::Event(event);
}

}  // namespace crisol::runtime
