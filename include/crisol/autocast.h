// Mixed precision: products, convolutions and recurrent layers compute with operands of half the bytes.
//
//     Tensor loss;
//     {
//       const crisol::Autocast autocast(crisol::DType::f16);
//       loss = cross_entropy(net(images), labels);  // The layers compute in f16, the loss in f32.
//     }
//     scaler.scale(loss).backward();  // optim::GradScaler keeps small gradients.
//
// Parameters stay f32. A function converts its operands when it is called. PyTorch's lists for CUDA say to which type:
// see docs/mixed-precision.md. A conversion has a gradient, so a parameter gets a gradient in f32. Backward computes in
// the types that forward had, wherever it runs.
#pragma once

#include <vector>

#include "crisol/dtype.h"
#include "crisol/export.h"
#include "crisol/tensor.h"

namespace crisol {

/// Switches the conversion of operands on or off on this thread, from construction to destruction.
class CRISOL_API Autocast {
 public:
  /// `dtype` is a type of two bytes, such as DType::f16. While scopes of the thread last, the conversion of an f32 leaf
  /// that wants a gradient is kept from its second use on, unless `cache_enabled` is false. A write to the leaf makes
  /// the kept result invalid. Throws invalid_argument for another dtype.
  explicit Autocast(DType dtype = DType::f16, bool enabled = true, bool cache_enabled = true);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool enabled_before_;
  DType dtype_before_;
  bool caches_before_;
};

/// Whether the innermost Autocast of this thread converts operands.
CRISOL_API bool autocast_enabled() noexcept;

/// The dtype of the innermost Autocast of this thread, otherwise f16.
CRISOL_API DType autocast_dtype() noexcept;

/// Whether the innermost Autocast of this thread keeps converted parameters.
CRISOL_API bool autocast_cache_enabled() noexcept;

/// The tensors in the types in which the function `op` computes under the innermost Autocast of this thread. They stay
/// as they are if there is none, or if no list has the function. A function of your own gets a rule if it calls this
/// with the name of a listed function, and computes with an Autocast that is not enabled.
CRISOL_API std::vector<Tensor> autocast_operands(const char* op, const std::vector<Tensor>& tensors);

}  // namespace crisol
