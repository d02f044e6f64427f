#include "runtime/memory/fault_flag.h"

#include "base/text.h"
#include "runtime/device/device_state.h"

namespace crisol::runtime {

namespace {

constexpr FaultFlag::Words no_fault{};

const char* name_of(FaultOp op) { return op == FaultOp::cross_entropy ? "cross_entropy" : "nll_loss"; }

}  // namespace

FaultFlag& fault_flag_of(DeviceState& device) noexcept { return device.fault_flag(); }

BufferView FaultFlag::words() {
  std::call_once(made_, [this] {
    Words zeros = no_fault;
    cl_int error = CL_SUCCESS;
    cl::Buffer buffer(device_.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros.data(), &error);
    check_cl(error, "clCreateBuffer");
    owner_ = std::make_shared<Block>(device_, buffer(), sizeof zeros);
    buffer() = nullptr;  // The block now owns this reference.
    block_.store(owner_.get(), std::memory_order_release);
  });
  return {owner_.get(), 0};
}

std::unique_ptr<FaultFlag::Words> FaultFlag::begin_read() {
  if (!expected_.load(std::memory_order_relaxed) || !expected_.exchange(false, std::memory_order_acquire)) return {};
  auto words = std::make_unique<Words>();
  const cl_int error = clEnqueueReadBuffer(device_.queue(), owner_->memory(), CL_FALSE, 0, sizeof(Words), words->data(),
                                           0, nullptr, nullptr);
  if (error != CL_SUCCESS) expect();  // The next read looks.
  check_cl(error, "clEnqueueReadBuffer");
  return words;
}

void FaultFlag::abandon(std::unique_ptr<Words> words) {
  expect();
  if (clFinish(device_.queue()) == CL_SUCCESS) return;
  const std::lock_guard lock(abandoned_mutex_);
  abandoned_.push_back(std::move(words));
}

void FaultFlag::check(const Words& words) {
  if (words[0] == 0) return;
  check_cl(clEnqueueWriteBuffer(device_.queue(), owner_->memory(), CL_FALSE, 0, sizeof no_fault, no_fault.data(), 0,
                                nullptr, nullptr),
           "clEnqueueWriteBuffer");
  fail(ErrorCode::invalid_argument, name_of(static_cast<FaultOp>(words[0])), "label ", words[1], " is not in [0, ",
       words[2],
       ") and is not ignore_index; losses and gradients that depend on it are NaN. With CRISOL_CHECK_INDICES=1 "
       "the call itself fails");
}

}  // namespace crisol::runtime
