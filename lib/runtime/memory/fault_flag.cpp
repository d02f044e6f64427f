#include "runtime/memory/fault_flag.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <string_view>

#include "base/text.h"
#include "runtime/device/device_state.h"
#include "runtime/memory/host_memory.h"

namespace crisol::runtime {

namespace {

constexpr FaultFlag::Words no_fault{};

struct FaultSource {
  std::string_view op;
  FaultKind kind;
  std::string bounds;
};

/// The ops that note wrong values. An op is at the index of its number minus 1.
struct FaultSources {
  std::mutex mutex;
  std::vector<FaultSource> all;
};

FaultSources& sources() {
  static FaultSources instance;
  return instance;
}

/// An element with all its digits.
std::string text_of(float element) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, element).ptr};
}

std::string text_of(const FaultSource& source, std::int64_t value, std::int64_t size) {
  switch (source.kind) {
    case FaultKind::label:
      return concat("label ", value, " is not in [0, ", size,
                    ") and is not ignore_index; losses and gradients that depend on it are NaN");
    case FaultKind::position:
      // Takes away the size that the op added.
      if (value < 0)
        value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(size));
      return concat("index ", value, " is not in [", -size, ", ", size, ")");
    case FaultKind::joined: return "an index is outside its axis";
    case FaultKind::range:
      return concat("an element is ", text_of(std::bit_cast<float>(static_cast<std::int32_t>(value))),
                    ", which is not in ", source.bounds);
    case FaultKind::weights:
      return value != 0 ? "a weight is negative, infinite or NaN" : "no weight of a row is above 0";
    default: return concat("index ", value, " is not in [0, ", size, ")");
  }
}

}  // namespace

std::int32_t fault_number(const char* op, FaultKind kind, std::string_view bounds) {
  FaultSources& known = sources();
  const std::lock_guard lock(known.mutex);
  const auto same = [&](const FaultSource& source) {
    return source.op == op && source.kind == kind && source.bounds == bounds;
  };
  const auto at = std::find_if(known.all.begin(), known.all.end(), same);
  const auto number = static_cast<std::int32_t>(at - known.all.begin()) + 1;
  if (at == known.all.end()) known.all.push_back({op, kind, std::string(bounds)});
  return number;
}

FaultFlag& fault_flag_of(DeviceState& device) noexcept { return device.fault_flag(); }

BufferView FaultFlag::words() {
  std::call_once(made_, [this] {
    owner_ = block_over(device_, own_.data(), sizeof own_);
    is_own_ = owner_ != nullptr;
    if (!is_own_) {
      Words zeros = no_fault;
      cl_int error = CL_SUCCESS;
      cl::Buffer buffer(device_.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros.data(),
                        &error);
      check_cl(error, "clCreateBuffer");
      owner_ = std::make_shared<Block>(device_, buffer(), sizeof zeros);
      buffer() = nullptr;  // The block now owns this reference.
    }
    block_.store(owner_.get(), std::memory_order_release);
  });
  return {owner_.get(), 0};
}

std::unique_ptr<FaultFlag::Words> FaultFlag::begin_read() {
  if (!expected_.load(std::memory_order_relaxed) || !expected_.exchange(false, std::memory_order_acquire)) return {};
  auto words = std::make_unique<Words>();
  if (is_own_) return words;
  const cl_int error = clEnqueueReadBuffer(device_.queue(), owner_->memory(), CL_FALSE, 0, sizeof(Words), words->data(),
                                           0, nullptr, nullptr);
  if (error != CL_SUCCESS) expect();  // The next read looks at the words again.
  check_cl(error, "clEnqueueReadBuffer");
  return words;
}

void FaultFlag::abandon(std::unique_ptr<Words> words) {
  expect();
  if (clFinish(device_.queue()) == CL_SUCCESS) return;
  const std::lock_guard lock(abandoned_mutex_);
  abandoned_.push_back(std::move(words));
}

void FaultFlag::check(std::unique_ptr<Words> read) {
  Words& words = *read;
  if (is_own_) words = own_;
  if (words[0] == 0) return;
  check_cl(clEnqueueWriteBuffer(device_.queue(), owner_->memory(), CL_FALSE, 0, sizeof no_fault, no_fault.data(), 0,
                                nullptr, nullptr),
           "clEnqueueWriteBuffer");
  FaultSource source;
  {
    FaultSources& known = sources();
    const std::lock_guard lock(known.mutex);
    source = known.all.at(static_cast<std::size_t>(words[0]) - 1);
  }
  fail(ErrorCode::invalid_argument, source.op.data(), text_of(source, words[1], words[2]),
       ". With CRISOL_CHECK_INDICES=1 the call itself fails");
}

}  // namespace crisol::runtime
