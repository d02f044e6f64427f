#include "runtime/memory/host_window.h"

#include <utility>

#include "base/text.h"
#include "runtime/capture/capture.h"
#include "runtime/device/device_state.h"
#include "runtime/dry_run.h"

namespace crisol::runtime {

// The buffer is mapped only on CPUs. While a part of a buffer is mapped, kernels must be able to use other parts, but
// OpenCL promises this only for sub-buffers. On CPUs, mapping has no effect, because the pointer is the buffer's own
// memory.
HostWindow::HostWindow(BlockPtr block, std::uint64_t offset, std::uint64_t bytes)
    : block_(std::move(block)),
      offset_(offset),
      bytes_(bytes),
      mapped_(block_->device().info().type == DeviceType::cpu && block_->device().info().unified_memory) {}

HostWindow::~HostWindow() { release(); }

// If an error cut an access short, ends the access, because nothing may use the memory later.
void HostWindow::release() noexcept {
  if (address_ == nullptr) return;
  const cl_command_queue queue = block_->device().transfer_queue();
  if (began_() != nullptr) clWaitForEvents(1, &began_());
  clEnqueueUnmapMemObject(queue, mapped_ ? block_->memory() : pinned_(), address_, 0, nullptr, nullptr);
  clFinish(queue);
  address_ = nullptr;
}

void HostWindow::pin() {
  DeviceState& device = block_->device();
  cl_int error = CL_SUCCESS;
  pinned_ = cl::Buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes_, nullptr, &error);
  check_cl(error, "clCreateBuffer");
  address_ = clEnqueueMapBuffer(device.transfer_queue(), pinned_(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes_, 0,
                                nullptr, nullptr, &error);
  check_cl(error, "clEnqueueMapBuffer");
}

void HostWindow::begin(bool read) {
  check_not_capturing("the host accesses the values of a tensor");
  check_has_values(*block_);
  if (bytes_ == 0) return;
  DeviceState& device = block_->device();
  if (!mapped_ && address_ == nullptr) pin();
  cl_event queued = nullptr, there = nullptr;
  check_cl(clEnqueueMarkerWithWaitList(device.queue(), 0, nullptr, &queued), "clEnqueueMarkerWithWaitList");
  began_ = cl::Event(queued);
  check_cl(clFlush(device.queue()), "clFlush");
  if (mapped_) {
    cl_int error = CL_SUCCESS;
    address_ = clEnqueueMapBuffer(device.transfer_queue(), block_->memory(), CL_FALSE, CL_MAP_READ | CL_MAP_WRITE,
                                  offset_, bytes_, 1, &queued, &there, &error);
    check_cl(error, "clEnqueueMapBuffer");
    began_ = cl::Event(there);
  } else if (read) {
    CommandTimer timer(device, "download", transfer_queue_row);
    check_cl(clEnqueueReadBuffer(device.transfer_queue(), block_->memory(), CL_FALSE, offset_, bytes_, address_, 1,
                                 &queued, &there),
             "clEnqueueReadBuffer");
    began_ = cl::Event(there);
    timer.queued("download", bytes_, began_);
  }
  check_cl(clFlush(device.transfer_queue()), "clFlush");
}

bool HostWindow::ready() {
  if (began_() == nullptr) return true;
  cl_int status = CL_QUEUED;
  check_cl(clGetEventInfo(began_(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
           "clGetEventInfo");
  if (status < 0) check_cl(status, "the access of the host");
  return status == CL_COMPLETE;
}

void* HostWindow::wait() {
  if (began_() != nullptr) check_cl(clWaitForEvents(1, &began_()), "clWaitForEvents");
  return address_;
}

void HostWindow::end(bool write) {
  if (bytes_ == 0) return;
  DeviceState& device = block_->device();
  wait();
  cl_event ended = nullptr;
  if (mapped_) {
    check_cl(clEnqueueUnmapMemObject(device.transfer_queue(), block_->memory(), std::exchange(address_, nullptr), 0,
                                     nullptr, &ended),
             "clEnqueueUnmapMemObject");
    ended_ = cl::Event(ended);
  } else if (write) {
    CommandTimer timer(device, "upload", transfer_queue_row);
    check_cl(clEnqueueWriteBuffer(device.transfer_queue(), block_->memory(), CL_FALSE, offset_, bytes_, address_, 0,
                                  nullptr, &ended),
             "clEnqueueWriteBuffer");
    ended_ = cl::Event(ended);
    timer.queued("upload", bytes_, ended_);
  }
  began_ = cl::Event();
  check_cl(clFlush(device.transfer_queue()), "clFlush");
}

void HostWindow::join() {
  if (ended_() == nullptr) return;
  check_cl(clEnqueueBarrierWithWaitList(block_->device().queue(), 1, &ended_(), nullptr),
           "clEnqueueBarrierWithWaitList");
  ended_ = cl::Event();
}

}  // namespace crisol::runtime
