// checkpoint(): backward runs the function again, to get the tensors that the function's ops saved.
#include "autograd/checkpoint.h"

#include <utility>
#include <vector>

#include "autograd/node.h"
#include "base/text.h"
#include "base/thread_context.h"
#include "crisol/autocast.h"
#include "crisol/ops/copy.h"
#include "crisol/random.h"
#include "tensor/generator.h"

namespace crisol {

namespace autograd {

namespace {

constexpr const char* op = "checkpoint";

using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

}  // namespace

/// Keeps the states of the generators from before a function drew from them. Outer observers are told too.
class Draws : public DrawObserver {
 public:
  /// `replayed` has the states that generators get before they draw. It is null the first time.
  explicit Draws(const Draws* replayed = nullptr)
      : replayed_(replayed), outer_(std::exchange(thread_context().saving.draw_observer, this)) {}
  ~Draws() override { stop(); }
  Draws(const Draws&) = delete;
  Draws& operator=(const Draws&) = delete;

  void before_draw(const Generator& generator) override {
    if (outer_ != nullptr) outer_->before_draw(generator);
    if (find(generator) != nullptr) return;
    const Tensor& state = generator.impl().state;
    states_.emplace_back(generator, ops::clone(state));
    if (replayed_ == nullptr) return;
    const Tensor* before = replayed_->find(generator);
    require(before != nullptr, op, "the function drew from another generator when it ran again");
    ops::copy_into(state, *before);
  }

  /// Stops observing. After a replay the generators go on where they were before it.
  void stop() {
    if (stopped_) return;
    stopped_ = true;
    thread_context().saving.draw_observer = outer_;
    if (replayed_ == nullptr) return;
    for (const auto& [generator, state] : states_) ops::copy_into(generator.impl().state, state);
  }

 private:
  const Tensor* find(const Generator& generator) const {
    for (const auto& [known, state] : states_)
      if (&known.impl() == &generator.impl()) return &state;
    return nullptr;
  }

  const Draws* const replayed_;
  DrawObserver* const outer_;
  bool stopped_ = false;
  std::vector<std::pair<Generator, Tensor>> states_;
};

struct Recomputed::Place {
  std::shared_ptr<CheckpointFrame> frame;
  Tensor tensor;
  std::uint64_t version = 0;  ///< The tensor's version when the function ran again.
};

class CheckpointFrame : public std::enable_shared_from_this<CheckpointFrame> {
 public:
  CheckpointFrame(Function function, const std::vector<Tensor>& inputs)
      : function_(std::move(function)), precision_(crisol::precision()), autocast_(thread_context().grad.autocast) {
    for (const Tensor& input : inputs) inputs_.emplace_back(input);
  }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    const Scope scope(this);
    std::vector<Tensor> results = function_(inputs);
    draws_.stop();
    return results;
  }

  Recomputed place_for(const Tensor& tensor) {
    if (!again_) {
      auto place = std::make_shared<Recomputed::Place>(Recomputed::Place{shared_from_this(), Tensor(), 0});
      kept_.push_back({place, tensor.shape(), tensor.dtype()});
      return Recomputed(std::move(place));
    }
    require(next_ < kept_.size() && kept_[next_].shape == tensor.shape() && kept_[next_].dtype == tensor.dtype(), op,
            "when the function ran again, its ops kept another tensor of shape ", tensor.shape(), " and dtype ",
            tensor.dtype(), " as number ", next_, "; the function must do the same each time");
    if (const std::shared_ptr<Recomputed::Place> place = kept_[next_].place.lock()) {
      place->tensor = tensor.detach();
      place->version = version_of(tensor);
    }
    ++next_;
    return {};
  }

  const Function& function() const noexcept { return function_; }
  const std::vector<Saved>& inputs() const noexcept { return inputs_; }

  void run_again() {
    std::vector<Tensor> inputs;
    for (const Saved& input : inputs_) inputs.push_back(input.get());
    const EnableGrad enable_grad;
    const WithPrecision same(precision_);
    const Autocast types(autocast_.dtype, autocast_.enabled, autocast_.caches);
    const Scope scope(this);
    const Draws replay(&draws_);
    again_ = true;
    next_ = 0;
    function_(inputs);
    require(next_ == kept_.size(), op, "when the function ran again, its ops kept ", next_, " tensors instead of ",
            kept_.size(), "; the function must do the same each time");
  }

 private:
  struct Kept {
    std::weak_ptr<Recomputed::Place> place;
    Shape shape;
    DType dtype;
  };

  /// While it lives, saved tensors belong to the frame.
  class Scope {
   public:
    explicit Scope(CheckpointFrame* frame) : before_(std::exchange(thread_context().saving.checkpoint, frame)) {}
    ~Scope() { thread_context().saving.checkpoint = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    CheckpointFrame* const before_;
  };

  const Function function_;
  const Precision precision_;
  const AutocastMode autocast_;
  std::vector<Saved> inputs_;
  Draws draws_;
  std::vector<Kept> kept_;
  bool again_ = false;
  std::size_t next_ = 0;
};

Recomputed Recomputed::place_for(const Tensor& tensor) { return thread_context().saving.checkpoint->place_for(tensor); }

const std::shared_ptr<CheckpointFrame>& frame_of(const Recomputed::Place& place) noexcept { return place.frame; }
const Function& function_of(const CheckpointFrame& frame) { return frame.function(); }
std::vector<const TensorImpl*> inputs_of(const CheckpointFrame& frame) {
  std::vector<const TensorImpl*> inputs;
  for (const Saved& input : frame.inputs())
    if (input.impl() != nullptr) inputs.push_back(input.impl());
  return inputs;
}

Tensor Recomputed::get() const {
  if (!place_->tensor.defined()) place_->frame->run_again();
  require_version(place_->tensor, place_->version);
  return place_->tensor;
}

}  // namespace autograd

std::vector<Tensor> checkpoint(const std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>& function,
                               const std::vector<Tensor>& inputs) {
  require(function != nullptr, "checkpoint", "the function is empty");
  if (!grad_enabled()) return function(inputs);
  return std::make_shared<autograd::CheckpointFrame>(function, inputs)->run(inputs);
}

Tensor checkpoint(const ForwardFunction& function, const std::vector<Tensor>& inputs) {
  require(function != nullptr, "checkpoint", "the function is empty");
  return checkpoint([function](const std::vector<Tensor>& in) { return std::vector<Tensor>{function(in)}; }, inputs)[0];
}

}  // namespace crisol
