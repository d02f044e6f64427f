// Gradients of lists of tensors, hooks, functions of the caller, and the search for anomalies, for C.
#include "crisol/autograd.h"

#include "c_api/handles.h"

using namespace crisol;
using namespace crisol::c_api;

struct crisol_hook {
  HookHandle value;
};

namespace {

void check_result(int result) { require(result == 0, "backward", "a hook failed with the result ", result); }

/// Handles to tensors, as the caller's functions take them.
class Handles {
 public:
  explicit Handles(const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) handles_.push_back({tensor});
    for (const crisol_tensor& handle : handles_) list_.push_back(&handle);
  }
  int count() const { return static_cast<int>(list_.size()); }
  const crisol_tensor* const* list() const { return list_.data(); }

 private:
  std::vector<crisol_tensor> handles_;
  std::vector<const crisol_tensor*> list_;
};

ForwardFunction forward_of(const std::string& op, crisol_forward_function function, const std::shared_ptr<void>& data) {
  return [op, function, data](const std::vector<Tensor>& inputs) {
    const Handles seen(inputs);
    crisol_tensor* result = nullptr;
    const int failed = function(data.get(), seen.count(), seen.list(), &result);
    const std::unique_ptr<crisol_tensor> given(result);
    require(failed == 0, op.c_str(), "the function failed with the result ", failed);
    require(given != nullptr, op.c_str(), "the function gave no tensor");
    return given->value;
  };
}

BackwardFunction backward_of(const std::string& op, crisol_backward_function function,
                             const std::shared_ptr<void>& data) {
  return [op, function, data](const Tensor& gradient, const std::vector<Tensor>& inputs, const Tensor& result) {
    const Handles seen(inputs);
    const crisol_tensor seen_gradient{gradient}, seen_result{result};
    std::vector<crisol_tensor*> given(inputs.size(), nullptr);
    const int failed = function(data.get(), &seen_gradient, seen.count(), seen.list(), &seen_result, given.data());
    const std::vector<std::unique_ptr<crisol_tensor>> owned_ones(given.begin(), given.end());
    require(failed == 0, op.c_str(), "the function's backward failed with the result ", failed);
    std::vector<Tensor> gradients;
    for (const auto& one : owned_ones) gradients.push_back(optional_tensor(one.get()));
    return gradients;
  };
}

/// Gives the caller the handle of a hook. `add` registers the hook with x. It gets the tensor and the hook's data.
template <class Function, class Add>
crisol_status give_hook(const crisol_tensor* x, Function function, void* user_data, void (*release)(void*),
                        crisol_hook** hook, const char* op, const Add& add) noexcept {
  return guarded([&] {
    const std::shared_ptr<void> data = owned(user_data, release);
    crisol_hook*& place = need(hook, op, "hook");
    need(function, op, "function");
    place = new crisol_hook{add(tensor_of(x, op, "x"), data)};
  });
}

}  // namespace

crisol_status crisol_backward_with(const crisol_tensor* x, const crisol_tensor* gradient,
                                   const crisol_grad_options* options) {
  return guarded([&] {
    BackwardOptions all;
    if (options != nullptr) all = {options->retain_graph != 0, options->create_graph != 0};
    tensor_of(x, "backward_with", "x").backward(optional_tensor(gradient), all);
  });
}

crisol_status crisol_gradients(int output_count, const crisol_tensor* const* outputs,
                               const crisol_tensor* const* gradients, int input_count,
                               const crisol_tensor* const* inputs, const crisol_grad_options* options,
                               crisol_tensor** results) {
  constexpr const char* op = "gradients";
  return guarded([&] {
    need(results, op, "results");
    GradOptions all;
    if (options != nullptr) {
      all.retain_graph = options->retain_graph != 0;
      all.create_graph = options->create_graph != 0;
      all.allow_unused = options->allow_unused != 0;
    }
    const std::vector<Tensor> from = tensors_of(outputs, output_count, op, "outputs");
    const std::vector<Tensor> to = tensors_of(inputs, input_count, op, "inputs");
    for (int i = 0; gradients != nullptr && i < output_count; ++i)
      all.grad_outputs.push_back(optional_tensor(gradients[i]));
    std::vector<std::unique_ptr<crisol_tensor>> made;
    for (const Tensor& gradient : grad(from, to, all))
      made.emplace_back(gradient.defined() ? new crisol_tensor{gradient} : nullptr);
    for (std::size_t i = 0; i < made.size(); ++i) results[i] = made[i].release();
  });
}

crisol_status crisol_retain_grad(crisol_tensor* x) {
  return guarded([&] { need(x, "retain_grad", "x").value.retain_grad(); });
}

crisol_status crisol_register_hook(const crisol_tensor* x, crisol_gradient_function function, void* user_data,
                                   void (*release)(void* user_data), crisol_hook** hook) {
  const auto add = [function](const Tensor& tensor, const std::shared_ptr<void>& data) {
    return tensor.register_hook([function, data](const Tensor& gradient) {
      const crisol_tensor seen{gradient};
      crisol_tensor* replacement = nullptr;
      const int result = function(data.get(), &seen, &replacement);
      const std::unique_ptr<crisol_tensor> given(replacement);
      check_result(result);
      return given == nullptr ? Tensor() : given->value;
    });
  };
  return give_hook(x, function, user_data, release, hook, "register_hook", add);
}

crisol_status crisol_register_post_accumulate_grad_hook(const crisol_tensor* x, crisol_leaf_function function,
                                                        void* user_data, void (*release)(void* user_data),
                                                        crisol_hook** hook) {
  const auto add = [function](const Tensor& tensor, const std::shared_ptr<void>& data) {
    return tensor.register_post_accumulate_grad_hook([function, data](const Tensor& leaf) {
      const crisol_tensor seen{leaf};
      check_result(function(data.get(), &seen));
    });
  };
  return give_hook(x, function, user_data, release, hook, "register_post_accumulate_grad_hook", add);
}

crisol_status crisol_hook_remove(crisol_hook* hook) {
  return guarded([&] { need(hook, "hook_remove", "hook").value.remove(); });
}

void crisol_hook_destroy(crisol_hook* hook) { delete hook; }

crisol_status crisol_custom_function(const char* name, int count, const crisol_tensor* const* inputs,
                                     crisol_forward_function forward, crisol_backward_function backward,
                                     void* user_data, void (*release)(void* user_data), crisol_tensor** result) {
  constexpr const char* op = "custom_function";
  return guarded([&] {
    const std::shared_ptr<void> data = owned(user_data, release);
    crisol_tensor*& place = need(result, op, "result");
    const std::string its_name = &need(name, op, "name");
    need(forward, op, "forward");
    need(backward, op, "backward");
    place =
        new crisol_tensor{custom_function(its_name, tensors_of(inputs, count, op, "inputs"),
                                          forward_of(its_name, forward, data), backward_of(its_name, backward, data))};
  });
}

crisol_status crisol_recompute(int count, const crisol_tensor* const* inputs, crisol_forward_function function,
                               void* user_data, void (*release)(void* user_data), crisol_tensor** result) {
  constexpr const char* op = "recompute";
  return guarded([&] {
    const std::shared_ptr<void> data = owned(user_data, release);
    crisol_tensor*& place = need(result, op, "result");
    need(function, op, "function");
    place = new crisol_tensor{checkpoint(forward_of(op, function, data), tensors_of(inputs, count, op, "inputs"))};
  });
}

void crisol_set_detect_anomaly(int enabled) { set_detect_anomaly(enabled != 0); }
