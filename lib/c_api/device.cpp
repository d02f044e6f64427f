// Devices, and OpenCL's objects, for C.
#include <map>
#include <mutex>

#include "c_api/handles.h"
#include "crisol/opencl_interop.h"
#include "crisol/trace.h"

using namespace crisol;
using namespace crisol::c_api;

crisol_status crisol_device_count(int32_t* count) {
  return guarded([&] { need(count, "device_count", "count") = static_cast<int32_t>(devices().size()); });
}

crisol_status crisol_device_find(const char* spec, crisol_device* device) {
  return guarded([&] { need(device, "device_find", "device") = Device(&need(spec, "device_find", "spec")).index(); });
}

crisol_status crisol_set_default_device(crisol_device device) {
  return guarded([&] { set_default_device(device_of(device, "set_default_device")); });
}

crisol_status crisol_default_device(crisol_device* device) {
  return guarded([&] { need(device, "default_device", "device") = Device().index(); });
}

crisol_status crisol_device_name(crisol_device device, const char** name) {
  return guarded([&] { need(name, "device_name", "name") = device_of(device, "device_name").name().c_str(); });
}

crisol_status crisol_device_json(crisol_device device, const char** json) {
  return guarded([&] {
    const char*& result = need(json, "device_json", "json");
    const Device the_device = device_of(device, "device_json");
    static std::mutex mutex;
    static std::map<int, std::string>& texts = *new std::map<int, std::string>;  // Never freed: callers keep pointers.
    const std::lock_guard lock(mutex);
    std::string& text = texts[the_device.index()];
    if (text.empty()) text = to_json(the_device.info());
    result = text.c_str();
  });
}

crisol_status crisol_synchronize(crisol_device device) {
  return guarded([&] { device_of(device, "synchronize").synchronize(); });
}

crisol_status crisol_device_memory(crisol_device device, crisol_memory_stats* stats) {
  return guarded([&] {
    crisol_memory_stats& result = need(stats, "device_memory", "stats");
    const MemoryStats now = device_of(device, "device_memory").memory_stats();
    result = {now.in_use, now.cached, now.peak, now.allocations};
  });
}

crisol_status crisol_reset_peak_memory(crisol_device device) {
  return guarded([&] { device_of(device, "reset_peak_memory").reset_peak_memory(); });
}

crisol_status crisol_release_cached_memory(crisol_device device) {
  return guarded([&] { device_of(device, "release_cached_memory").release_cached_memory(); });
}

crisol_status crisol_set_memory_limit(crisol_device device, uint64_t bytes) {
  return guarded([&] { device_of(device, "set_memory_limit").set_memory_limit(bytes); });
}

crisol_status crisol_trace_start(const char* path) {
  return guarded([&] { trace::start(&need(path, "trace", "path")); });
}

crisol_status crisol_trace_stop(void) {
  return guarded([] { trace::stop(); });
}

crisol_status crisol_device_from_opencl(void* opencl_device, void* context, void* queue, crisol_device* device) {
  return guarded([&] {
    need(device, "adopt_opencl", "device") =
        adopt_opencl(static_cast<_cl_device_id*>(opencl_device), static_cast<_cl_context*>(context),
                     static_cast<_cl_command_queue*>(queue))
            .index();
  });
}

crisol_status crisol_opencl_context(crisol_device device, void** context) {
  return guarded(
      [&] { need(context, "opencl_context", "context") = opencl_context(device_of(device, "opencl_context")); });
}

crisol_status crisol_opencl_queue(crisol_device device, void** queue) {
  return guarded([&] { need(queue, "opencl_queue", "queue") = opencl_queue(device_of(device, "opencl_queue")); });
}

crisol_status crisol_tensor_from_opencl(crisol_device device, void* memory, size_t offset, crisol_dtype dtype, int rank,
                                        const int64_t* sizes, crisol_tensor** result) {
  constexpr const char* op = "from_opencl";
  return give(result, op, [&] {
    return from_opencl(static_cast<_cl_mem*>(memory), shape_of(sizes, rank, op, "sizes"), dtype_of(dtype, op),
                       device_of(device, op), offset);
  });
}

crisol_status crisol_tensor_from_host_memory(crisol_device device, crisol_dtype dtype, int rank, const int64_t* sizes,
                                             void* memory, crisol_tensor** result) {
  constexpr const char* op = "from_host_memory";
  return guarded([&] {
    crisol_tensor*& place = need(result, op, "result");
    const Tensor tensor =
        from_host_memory(memory, shape_of(sizes, rank, op, "sizes"), dtype_of(dtype, op), device_of(device, op));
    place = tensor.defined() ? new crisol_tensor{tensor} : nullptr;
  });
}

crisol_status crisol_tensor_opencl(const crisol_tensor* x, void** memory, size_t* offset) {
  constexpr const char* op = "opencl_buffer";
  return guarded([&] {
    const OpenclBuffer buffer = opencl_buffer(tensor_of(x, op, "x"));
    void*& place = need(memory, op, "memory");
    need(offset, op, "offset") = buffer.offset;
    place = buffer.memory;
  });
}

crisol_status crisol_tensor_written(crisol_tensor* x) {
  return guarded([&] { opencl_buffer_for_writing(tensor_of(x, "tensor_written", "x")); });
}
