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

/// Copies of a storage's elements in other layouts (packed weights). A copy is valid for one version. A copy is kept
/// when an operand is used a second time without a write in between. Training writes weights between uses, so no copies
/// are kept there.
class DerivedData {
 public:
  using Found = dispatch::DerivedOwner::Found;
  Found find(const DerivedKey& key, std::uint64_t version);
  /// Keeps the copy of the first of several threads, and returns the kept copy.
  std::shared_ptr<void> keep(const DerivedKey& key, std::uint64_t version, std::shared_ptr<void> data);
  /// Removes all copies. Costs one load if there are none.
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

/// A range of a block. Several storages may share a block, as the parameters in an optimiser's arena do. Each storage
/// has its own version. All views of a tensor share its storage, so they follow when the storage gets other memory.
struct Storage : std::enable_shared_from_this<Storage>, dispatch::DerivedOwner {
  Storage(runtime::BlockPtr b, std::uint64_t first, std::uint64_t size)
      : block(std::move(b)), base(first), bytes(size) {}

  runtime::BlockPtr block;
  std::uint64_t base;  ///< The byte of the block at which the storage begins, a multiple of 64.
  const std::uint64_t bytes;
  std::uint64_t moves = 0;  ///< How often the storage got other memory.
  /// Whether others know the memory: a NumPy array, a user's program, or tensors with another storage. They could not
  /// follow if the storage got other memory.
  std::atomic<bool> is_known_outside{false};
  /// Raised by every write, so that backward can tell when a saved tensor was changed.
  std::atomic<std::uint64_t> version{0};
  DerivedData derived;

  /// Whether the storage may get other memory: all users of the elements would follow.
  bool can_move() const noexcept { return block->from_pool() && !block->is_captured() && !is_known_outside; }
  /// Gives the storage other memory, which holds the same elements.
  void move_to(runtime::BlockPtr other, std::uint64_t first) {
    block = std::move(other);
    base = first;
    ++moves;
  }

  /// Every write calls this.
  void written() {
    version.fetch_add(1, std::memory_order_relaxed);
    derived.drop();
    if (thread_context().submission.uses != nullptr) note_captured_write();
  }
  /// Finds data that is kept for this version. A capture uses kept data only if nothing is trained, and keeps no new
  /// data.
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

/// The elements that x[…] copied. It copies if a slice has a negative step or if a tensor gives positions.
struct IndexedPlace {
  /// The tensor x. It is a weak pointer, because only `x[…] = y` uses it, while x is alive.
  std::weak_ptr<TensorImpl> tensor;
  Shape shape, strides;       ///< The shape and the strides of the elements from which slices, positions and masks
                              /// pick. Strides are positive.
  std::int64_t offset = 0;    ///< The position of the first of these elements.
  Shape flipped;              ///< The axes that the copy reverses.
  std::vector<Tensor> picks;  ///< The indices that index_get took, or none.
};

struct TensorImpl {
  TensorImpl() noexcept {}  // Without it, make_shared would set all bytes to 0 first.

  std::shared_ptr<Storage> storage;
  std::int64_t offset = 0;  ///< In elements.
  Shape shape;
  Shape strides;
  DType dtype = DType::f32;
  std::shared_ptr<AutogradSlot> autograd;
  std::shared_ptr<const IndexedPlace> copied_from;  ///< Set for the copies that x[…] makes; else null.

  /// The base: the tensor that this one is a view of, if the view was made while ops were recorded. A base is no view
  /// itself. A recorded op in place gives the base a new place in the graph, and all its views follow
  /// (autograd/in_place.h).
  std::shared_ptr<TensorImpl> view_of;
  /// The base of a view that was made under NoGrad. Such a view does not follow.
  std::weak_ptr<TensorImpl> unrecorded_view_of;
  /// For a base: how many ops in place were recorded. For a view: the base's count when the view got its place in the
  /// graph.
  std::uint64_t recorded_writes = 0;
};

/// Bytes of a contiguous tensor. Throws, naming op, for negative sizes, and if the product of the nonzero sizes is
/// above 2^62.
std::uint64_t checked_bytes(const char* op, const Shape& shape, DType dtype);

/// Strides of a contiguous tensor.
Shape contiguous_strides(const Shape& shape);

/// A view that has no place in the graph yet. The caller has checked that the view stays within the storage.
Tensor make_view(const Tensor& base, const Shape& shape, const Shape& strides, std::int64_t offset);

/// A tensor with the same elements, outside of the graph. For autograd it is no view.
Tensor make_alias(const Tensor& x);

/// The base of x, or x itself if x is no view. Views under NoGrad count too.
Tensor whole_of(const Tensor& x);

/// A contiguous tensor over a part of the arena's block, with its own storage and version. It starts at
/// element `first` of `arena`. The owner of the arena uses this memory too, so the storage
/// is_known_outside.
Tensor make_slice_of_arena(const Tensor& arena, std::int64_t first, const Shape& shape);

/// A tensor from host bytes. The copy to the device runs at the same time as the work queued before. Takes ownership of
/// the bytes.
Tensor upload_beside(std::unique_ptr<std::byte[]> bytes, const Shape& shape, DType dtype, Device device);

/// Copies the elements of x, in x's layout, to the memory of `place`. From then on x and all its views use this memory.
/// `place` has the size of x. The storage of x must hold nothing but x.
void move_elements(const Tensor& x, const Tensor& place);

/// Whether move_elements accepts x: x is contiguous and fills its storage, and all users of the storage follow.
bool can_move_elements(const Tensor& x);

/// A tensor at the place of `x`, which is a part of an arena. Usually the result is x. If a program keeps x or another
/// tensor with its storage, these tensors get other memory with the same elements, and the result is a new tensor.
Tensor take_place(const Tensor& x);

/// Replaces the memory of `tensor`, in all its handles, by the memory of `value`. Both have the same shape and dtype.
void replace_storage(const Tensor& tensor, const Tensor& value);

/// Returns axis, or axis + rank if axis is negative. Throws, naming op, if it is out of range.
int normalized_axis(const char* op, std::int64_t axis, int rank);

}  // namespace crisol
