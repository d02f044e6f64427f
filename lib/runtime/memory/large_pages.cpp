#include "runtime/memory/large_pages.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <memory>

#include "runtime/device/device_state.h"
#include "runtime/memory/host_memory.h"

namespace crisol::runtime {

namespace {

cl_mem create_small_buffer(DeviceState& device, std::uint64_t bytes, cl_int& error) {
  if (device.computes_in_host_memory()) return create_host_buffer(device, bytes, error);
  return clCreateBuffer(device.context()(), CL_MEM_READ_WRITE, bytes, nullptr, &error);
}

}  // namespace

#if defined(__linux__) && defined(MADV_HUGEPAGE)

namespace {

constexpr std::size_t large_page = std::size_t{2} << 20;  // On x86-64, and on aarch64 with small pages of 4 KB.
constexpr std::size_t min_bytes = 2 * large_page;

struct Unmap {
  std::size_t bytes;
  void operator()(void* begin) const { munmap(begin, bytes); }
};
using Pages = std::unique_ptr<void, Unmap>;

// Maps `bytes` of zeros that start at the first byte of a large page, or returns null. The rest, which does not fill a
// large page, is in small pages.
Pages map_pages(std::size_t bytes) {
  const std::size_t mapped = bytes + large_page;
  void* const begin = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return {nullptr, {0}};
  void* aligned = begin;
  std::size_t space = mapped;
  std::align(large_page, bytes, aligned, space);
  if (mapped != space) munmap(begin, mapped - space);
  Pages pages(aligned, {space});
  madvise(aligned, bytes / large_page * large_page, MADV_HUGEPAGE);  // Only a request: small pages work too.
  return pages;
}

void CL_CALLBACK unmap(cl_mem /*memory*/, void* pages) { delete static_cast<Pages*>(pages); }

bool wants_large_pages(const DeviceInfo& info, std::uint64_t bytes) {
  return info.type == DeviceType::cpu && info.unified_memory && bytes >= min_bytes;
}

}  // namespace

cl_mem create_buffer(DeviceState& device, std::uint64_t bytes, cl_int& error) {
  if (!wants_large_pages(device.info(), bytes)) return create_small_buffer(device, bytes, error);
  auto pages = std::make_unique<Pages>(map_pages(bytes));
  error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  if (*pages == nullptr) return nullptr;
  cl_mem memory =
      clCreateBuffer(device.context()(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, pages->get(), &error);
  if (error != CL_SUCCESS) return nullptr;
  // Queued commands keep the buffer alive after its release. The driver calls `unmap` when it no longer needs the
  // pages.
  error = clSetMemObjectDestructorCallback(memory, unmap, pages.get());
  if (error != CL_SUCCESS) {
    clReleaseMemObject(memory);
    return nullptr;
  }
  pages.release();
  return memory;
}

#else

cl_mem create_buffer(DeviceState& device, std::uint64_t bytes, cl_int& error) {
  return create_small_buffer(device, bytes, error);
}

#endif

}  // namespace crisol::runtime
