#include "crisol/host_access.h"

#include "base/text.h"
#include "runtime/memory/host_window.h"
#include "tensor/grad_mode.h"
#include "tensor/impl.h"

namespace crisol {

struct HostAccess::Impl {
  Tensor tensor;
  std::uint64_t moves;  ///< The storage's `moves` when the window was made.
  std::unique_ptr<runtime::HostWindow> window;
};

namespace {

constexpr const char* op = "HostAccess";

const Tensor& checked(const Tensor& x) {
  require(x.defined(), op, "the tensor is undefined");
  require(x.is_contiguous(), op, "the tensor of shape ", x.shape(), " has strides ", x.strides(),
          " and is not contiguous");
  return x;
}

std::uint64_t first_byte(const Tensor& x) {
  return x.impl()->storage->base + static_cast<std::uint64_t>(x.offset()) * size_of(x.dtype());
}

std::unique_ptr<runtime::HostWindow> window_of(const Tensor& x) {
  return std::make_unique<runtime::HostWindow>(x.impl()->storage->block, first_byte(x),
                                               static_cast<std::uint64_t>(x.numel()) * size_of(x.dtype()));
}

}  // namespace

HostAccess::HostAccess(const Tensor& x) : impl_(new Impl{checked(x), x.impl()->storage->moves, window_of(x)}) {}

HostAccess::~HostAccess() = default;

void HostAccess::begin(bool read) {
  const std::uint64_t moves = impl_->tensor.impl()->storage->moves;
  if (moves != impl_->moves) impl_->window = window_of(impl_->tensor);
  impl_->moves = moves;
  impl_->window->begin(read);
}
bool HostAccess::ready() { return impl_->window->ready(); }
void* HostAccess::wait() { return impl_->window->wait(); }

void HostAccess::end(bool write) {
  if (write) {
    require_in_place_allowed(op, impl_->tensor);
    impl_->tensor.impl()->storage->written();
  }
  impl_->window->end(write);
}

void HostAccess::join() { impl_->window->join(); }

}  // namespace crisol
