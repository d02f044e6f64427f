#include "runtime/device/device_state.h"

#include <algorithm>

#include "base/text.h"
#include "runtime/device/device_query.h"
#include "runtime/memory/host_memory.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

DeviceState::DeviceState(cl::Device device, int index, int platform_index, int device_index)
    : device_(std::move(device)),
      info_(query_device(device_)),
      index_(index),
      platform_index_(platform_index),
      device_index_(device_index) {}

DeviceState::DeviceState(cl::Device device, int index, cl::Context context, cl::CommandQueue queue)
    : DeviceState(std::move(device), index, -1, -1) {
  std::call_once(opened_, [&] {
    context_ = std::move(context);
    queue_ = std::move(queue);
    adopted_ = true;
    begin();
    if (has_timeline()) start_timeline();
  });
}

void DeviceState::open() {
  cl_int error = CL_SUCCESS;
  context_ = cl::Context(device_, nullptr, nullptr, nullptr, &error);
  check_cl(error, "clCreateContext");
  if (!environment("CRISOL_PROFILE").empty() && environment("CRISOL_PROFILE") != "0") profiler_.start();
  if (has_timeline()) profiler_.start_timeline();
  queue_ = make_queue();
  begin();
}

cl::CommandQueue DeviceState::make_queue() {
  cl_int error = CL_SUCCESS;
  cl::CommandQueue queue(context_, device_, profiler_.active() ? CL_QUEUE_PROFILING_ENABLE : 0, &error);
  check_cl(error, "clCreateCommandQueue");
  return queue;
}

void DeviceState::begin() {
  if (has_timeline()) timeline_device(index_, concat(info_.name, " (", info_.platform, ')'));
  used_.store(true, std::memory_order_release);
  finish_before_exit();
  log(Topic::device, "using ", info_.name, " (", info_.platform, ", driver ", info_.driver_version, ")");
}

const cl::Context& DeviceState::context() {
  system::check_not_forked();
  std::call_once(opened_, [this] { open(); });
  return context_;
}

cl_command_queue DeviceState::queue() {
  system::check_not_forked();
  if (!used()) std::call_once(opened_, [this] { open(); });
  return queue_();
}

cl_command_queue DeviceState::transfer_queue() {
  system::check_not_forked();
  std::call_once(transfer_opened_, [this] {
    context();
    transfer_queue_ = make_queue();
  });
  return transfer_queue_();
}

void DeviceState::finish() {
  const TimelineSlice slice("wait", "wait");
  programs_.progress().wait_for_first_runs(queue());
  const std::uint64_t wait = pool_.begin_wait();
  check_cl(clFinish(queue()), "clFinish");
  pool_.end_wait(wait);
  collect_staged();
  profiler_.drain(index_);
  programs_.store_unsaved();
}

void DeviceState::wait_if_blocking(const std::string& kernel) {
  static const bool blocking = environment("CRISOL_LAUNCH_BLOCKING") == "1";
  if (!blocking) return;
  const cl_int error = clFinish(queue());
  if (error != CL_SUCCESS)
    fail(ErrorCode::device_failure, "launch", kernel, " failed while it ran: ", cl_error_name(error), " (", error, ')');
}

void DeviceState::set_profiling() {
  require(!adopted_, "profile", info_.name, " works in a queue of the program's, which it cannot exchange");
  finish();
  queue_ = make_queue();
  if (transfer_queue_() != nullptr) transfer_queue_ = make_queue();
}

void DeviceState::start_timeline() {
  timeline_device(index_, concat(info_.name, " (", info_.platform, ')'));
  cl_command_queue_properties properties = 0;
  check_cl(clGetCommandQueueInfo(queue(), CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr),
           "clGetCommandQueueInfo");
  if (adopted_ && (properties & CL_QUEUE_PROFILING_ENABLE) == 0) return;
  finish();  // Waits for earlier work, which belongs only to profiles.
  if (profiler_.start_timeline() && !adopted_) set_profiling();
}

void DeviceState::stop_timeline(bool ending) {
  if (!profiler_.in_timeline()) return;
  finish();
  if (profiler_.stop_timeline() && !adopted_ && !ending) set_profiling();
}

bool DeviceState::computes_in_host_memory() {
  std::call_once(host_memory_tried_, [this] { computes_in_host_memory_ = runtime::computes_in_host_memory(*this); });
  return computes_in_host_memory_;
}

DeviceState::HostBytes DeviceState::staging(std::size_t size) {
  collect_staged();
  {
    const std::lock_guard lock(staged_mutex_);
    for (HostBytes& spare : spare_)
      if (spare.size >= size && spare.size <= 2 * size) {
        HostBytes taken = std::move(spare);
        spare = std::move(spare_.back());
        spare_.pop_back();
        return taken;
      }
  }
  return {std::make_unique_for_overwrite<std::byte[]>(size), size};
}

void DeviceState::keep_until(cl::Event event, HostBytes bytes) {
  collect_staged();
  const std::lock_guard lock(staged_mutex_);
  staged_.push_back({std::move(event), std::move(bytes)});
}

void DeviceState::collect_staged() {
  constexpr std::size_t most_spare = 4;
  const std::lock_guard lock(staged_mutex_);
  for (std::size_t i = 0; i < staged_.size();) {
    // A negative status means that the command failed. Then its bytes are not needed any more.
    if (staged_[i].event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() > CL_COMPLETE) {
      ++i;
      continue;
    }
    if (staged_[i].bytes.size > 0) spare_.push_back(std::move(staged_[i].bytes));
    if (spare_.size() > most_spare) spare_.erase(spare_.begin());
    staged_.erase(staged_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace crisol::runtime
