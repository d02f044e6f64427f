// The object that a Tensor handle points to.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/thread_context.h"
#include "crisol/tensor.h"
#include "dispatch/derived.h"
#include "runtime/memory/memory_pool.h"

namespace crisol {

using dispatch::DerivedKey;

/// Copies of a storage's elements in other layouts (packed weights). A copy is valid for one version. An operand gets a
/// copy when it is used a second time without a write in between. Training writes the weights between uses, so it keeps
/// no copies.
class DerivedData {
 public:
  using Found = dispatch::DerivedOwner::Found;
  Found find(const DerivedKey& key, std::uint64_t version);
  /// The first of several threads wins. Returns the kept copy.
  std::shared_ptr<void> keep(const DerivedKey& key, std::uint64_t version, std::shared_ptr<void> data);
  /// Forgets everything. Costs one load when there is nothing.
  void drop() noexcept;

 private:
  struct Entry {
    DerivedKey key;
    std::shared_ptr<void> data;
  };
  Entry* entry_of(const DerivedKey& key, std::uint64_t version);

  std::mutex mutex_;
  std::atomic<bool> holds_{false};
  std::uint64_t version_ = 0;
  std::vector<Entry> entries_;
};

/// A range of a block. Several storages may share a block (the parameters of an optimiser's arena do), each with a
/// version of its own.
struct Storage : std::enable_shared_from_this<Storage>, dispatch::DerivedOwner {
  Storage(runtime::BlockPtr b, std::uint64_t first, std::uint64_t size)
      : block(std::move(b)), base(first), bytes(size) {}

  const runtime::BlockPtr block;
  const std::uint64_t base;  ///< The byte of the block at which the storage begins, a multiple of 64.
  const std::uint64_t bytes;
  /// Raised by every write, so that backward can tell when a saved tensor was changed.
  std::atomic<std::uint64_t> version{0};
  DerivedData derived;

  /// Every write calls this.
  void written() {
    version.fetch_add(1, std::memory_order_relaxed);
    derived.drop();
    if (thread_context().captured_uses != nullptr) note_captured_write();
  }
  /// Finds data kept for this version. A capture uses kept data only if nothing is trained. It keeps no new data.
  Found find_derived(const DerivedKey& key, std::uint64_t at_version) override;
  std::shared_ptr<void> keep_derived(const DerivedKey& key, std::uint64_t at_version,
                                     std::shared_ptr<void> data) override {
    return derived.keep(key, at_version, std::move(data));
  }

 private:
  void note_captured_write();
};

/// The base class of autograd's data of a tensor. The layers below autograd do not look into it.
struct AutogradSlot {
  virtual ~AutogradSlot() = default;
};

/// The elements that x[…] has copied, because a slice had a negative step or a tensor gave positions.
struct IndexedPlace {
  /// It does not keep the storage alive: only `x[…] = y` uses it, while x is alive.
  std::weak_ptr<Storage> storage;
  Shape shape, strides;       ///< The elements that slices, positions and masks pick from. Strides are positive.
  std::int64_t offset = 0;    ///< The position of the first of these elements.
  Shape flipped;              ///< The axes that the copy has in the opposite order.
  std::vector<Tensor> picks;  ///< The indices of index_get, or none.
};

struct TensorImpl {
  std::shared_ptr<Storage> storage;
  std::int64_t offset = 0;  ///< In elements.
  Shape shape;
  Shape strides;
  DType dtype = DType::f32;
  std::shared_ptr<AutogradSlot> autograd;
  std::shared_ptr<const IndexedPlace> copied_from;  ///< Set for the copies that x[…] makes; else null.
};

/// Bytes of a contiguous tensor. Throws, naming op, for negative sizes, and if the product of the nonzero sizes passes
/// 2^62.
std::uint64_t checked_bytes(const char* op, const Shape& shape, DType dtype);

/// Strides of a contiguous tensor.
Shape contiguous_strides(const Shape& shape);

/// A new tensor over the same storage, outside the graph; the caller has checked that it stays inside.
Tensor make_view(const Tensor& base, const Shape& shape, const Shape& strides, std::int64_t offset);

/// A contiguous tensor over a part of another tensor's block, with its own storage and version. It starts `first`
/// elements into the part of the block that `arena` covers.
Tensor make_slice_of_arena(const Tensor& arena, std::int64_t first, const Shape& shape);

/// A tensor from host bytes. The copy to the device runs at the same time as the work queued before. Takes ownership of
/// the bytes.
Tensor upload_beside(std::unique_ptr<std::byte[]> bytes, const Shape& shape, DType dtype, Device device);

/// Replaces the memory of `tensor`, in all its handles, by the memory of `value`. Both have the same shape and dtype.
void replace_storage(const Tensor& tensor, const Tensor& value);

/// Returns axis, or axis + rank if axis is negative. Throws, naming op, if it is out of range.
int normalized_axis(const char* op, std::int64_t axis, int rank);

}  // namespace crisol
