#include "autograd/autocast.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "base/per_thread.h"
#include "base/text.h"
#include "crisol/autocast.h"
#include "crisol/dtype_table.h"
#include "crisol/ops/copy.h"

namespace crisol {

namespace autograd {

namespace {

// PyTorch's lists for CUDA, with the names of this library and of its Python package. Names of PyTorch's functions that
// call a listed function are not in the lists.

constexpr std::string_view half_ops =
    "addbmm addmm addmv addr baddbmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d einsum linear matmul prelu rnn scaled_dot_product_attention vecdot";

constexpr std::string_view f32_ops =
    "acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss cosine_similarity "
    "cross_entropy cumprod cumsum deform_conv2d dist erfinv exp expm1 gaussian_nll_loss group_norm "
    "hinge_embedding_loss huber_loss interpolate kl_div l1_loss layer_norm log log10 log1p log2 "
    "log_softmax logsumexp margin_ranking_loss matrix_norm mse_loss multi_margin_loss "
    "multilabel_margin_loss multilabel_soft_margin_loss nll_loss norm normalize pdist poisson_nll_loss "
    "pow prod reciprocal renorm rms_norm rsqrt sinh smooth_l1_loss soft_margin_loss softmax softmin softplus sum "
    "tan triplet_margin_loss";

constexpr std::string_view widest_ops =
    "bilinear cat dot grid_sample index_add index_copy index_put scatter scatter_add stack tensordot "
    "vdot";

enum class Rule : std::uint8_t { half, f32, widest };

using Rules = std::unordered_map<std::string_view, Rule>;

void add(Rules& rules, std::string_view names, Rule rule) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    rules.emplace(names.substr(0, end), rule);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

const Rules& rules() {
  static const Rules table = [] {
    Rules made;
    add(made, half_ops, Rule::half);
    add(made, f32_ops, Rule::f32);
    add(made, widest_ops, Rule::widest);
    return made;
  }();
  return table;
}

/// What the thread's work is for. A converted tensor serves only the capture and the trace that it was made in.
struct Work {
  const void *capturer, *dry_run, *trace;

  static Work now() noexcept {
    const ThreadContext& context = thread_context();
    return {context.submission.capturer, context.submission.dry_run, context.trace};
  }
  bool operator==(const Work&) const = default;
};

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.strides() == b.strides() && a.offset() == b.offset() && a.dtype() == b.dtype();
}

/// The converted parameters of a thread. A conversion is kept from the second use on. Most networks use a parameter
/// once in a scope, and need the memory for results.
struct KeptCasts {
  struct Kept {
    Tensor parameter, cast;
    std::weak_ptr<const Storage> last;  ///< The last conversion's, which may not be kept.
    DType type;
    std::uint64_t version;

    bool is_of(const Tensor& x, DType wanted) const {
      return type == wanted && version == version_of(x) && same_elements(parameter, x);
    }
  };

  int scopes = 0;                                 ///< The number of Autocast objects of the thread.
  Work work = {};                                 ///< The work of the thread when the outermost scope began.
  std::unordered_map<const Storage*, Kept> kept;  ///< By the parameter's storage.
  std::unordered_map<const Storage*, const Storage*> parameter_of;  ///< The parameter's storage by the conversion's.

  /// The parameter's entry for this type, or nullptr.
  Kept* find(const Tensor& parameter, DType type) {
    const auto found = kept.find(parameter.impl()->storage.get());
    return found != kept.end() && found->second.is_of(parameter, type) ? &found->second : nullptr;
  }
  void clear() noexcept {
    kept.clear();
    parameter_of.clear();
  }
};

bool is_leaf(const Tensor& x) {
  const Slot* const slot = slot_of(x);
  return slot != nullptr && slot->wanted && slot->node == nullptr;
}

/// The leaf in another type. Each use gets a place of its own in the graph, so backward() through one use leaves the
/// others, and gradients are added in the leaf's type.
Tensor kept_cast(const Tensor& leaf, DType type) {
  KeptCasts& casts = per_thread<KeptCasts>();
  const KeptCasts::Kept* const before = casts.find(leaf, type);
  Tensor cast = before != nullptr ? before->cast : Tensor();
  if (!cast.defined()) {
    cast = ops::cast(leaf, type);
    const std::shared_ptr<Storage>& storage = cast.impl()->storage;
    const Storage* const parameter = leaf.impl()->storage.get();
    casts.kept[parameter] = {leaf.detach(), before != nullptr ? cast : Tensor(), storage, type, version_of(leaf)};
    casts.parameter_of[storage.get()] = parameter;
  }
  return call("to", {leaf}, cast.detach(), unnoted,
              [&] { return [own = leaf.dtype()](const Tensor& dy) { return dy.to(own); }; });
}

bool keeps(const Tensor& x, DType type) {
  if (!thread_context().grad.autocast.caches || x.dtype() != DType::f32 || type == DType::f32) return false;
  return is_leaf(x) && per_thread<KeptCasts>().work == Work::now() && current_trace() == nullptr;
}

}  // namespace

Tensor parameter_behind(const Tensor& x) {
  const KeptCasts& casts = per_thread<KeptCasts>();
  const auto found = casts.parameter_of.find(x.impl()->storage.get());
  if (found == casts.parameter_of.end()) return {};
  const KeptCasts::Kept& kept = casts.kept.at(found->second);
  const bool is_whole = x.shape() == kept.parameter.shape() && x.offset() == 0 && x.is_contiguous();
  return is_whole && kept.last.lock() == x.impl()->storage && kept.is_of(kept.parameter, x.dtype()) ? kept.parameter
                                                                                                    : Tensor();
}

Tensor converted_again(const Tensor& parameter, DType type) {
  KeptCasts& casts = per_thread<KeptCasts>();
  const KeptCasts::Kept* const kept = casts.work == Work::now() ? casts.find(parameter, type) : nullptr;
  return kept != nullptr && kept->cast.defined() ? kept->cast : ops::cast(parameter, type);
}

std::optional<DType> autocast_type(const char* op, DType widest) {
  const auto found = rules().find(op);
  if (found == rules().end()) return std::nullopt;
  switch (found->second) {
    case Rule::half: return thread_context().grad.autocast.dtype;
    case Rule::f32: return DType::f32;
    case Rule::widest: return widest;
  }
  return std::nullopt;
}

bool Autocasts::converts(const Tensor& x) noexcept {
  return x.defined() && is_floating(x.dtype()) && value_type(x.dtype()) == DType::f32;
}

Tensor Autocasts::operator()(const Tensor& x) const {
  if (!converts(x) || x.dtype() == *type_) return x;
  return keeps(x, *type_) ? kept_cast(x, *type_) : x.to(*type_);
}

std::vector<Tensor> Autocasts::operator()(const std::vector<Tensor>& tensors) const {
  std::vector<Tensor> converted;
  converted.reserve(tensors.size());
  for (const Tensor& x : tensors) converted.push_back((*this)(x));
  return converted;
}

}  // namespace autograd

Autocast::Autocast(DType dtype, bool enabled, bool cache_enabled)
    : enabled_before_(autocast_enabled()), dtype_before_(autocast_dtype()), caches_before_(autocast_cache_enabled()) {
  require(!enabled || (is_floating(dtype) && size_of(dtype) == 2), "Autocast",
          "the dtype must be a floating-point type of two bytes, it is ", dtype);
  autograd::KeptCasts& casts = per_thread<autograd::KeptCasts>();
  if (casts.scopes++ == 0) casts.work = autograd::Work::now();
  thread_context().grad.autocast = {enabled, dtype, cache_enabled};
}

Autocast::~Autocast() {
  thread_context().grad.autocast = {enabled_before_, dtype_before_, caches_before_};
  autograd::KeptCasts& casts = per_thread<autograd::KeptCasts>();
  if (--casts.scopes == 0) casts.clear();
}

bool autocast_enabled() noexcept { return thread_context().grad.autocast.enabled; }

DType autocast_dtype() noexcept { return thread_context().grad.autocast.dtype; }

bool autocast_cache_enabled() noexcept { return thread_context().grad.autocast.caches; }

std::vector<Tensor> autocast_operands(const char* op, const std::vector<Tensor>& tensors) {
  const autograd::Autocasts casts(op, tensors);
  return casts ? casts(tensors) : tensors;
}

}  // namespace crisol
