// Recurrent layers over whole sequences. PyTorch would call a cell for each step.
#include <ATen/ops/gru_native.h>
#include <ATen/ops/lstm_native.h>
#include <ATen/ops/rnn_relu_native.h>
#include <ATen/ops/rnn_tanh_native.h>
#include <torch/csrc/autograd/custom_function.h>

#include "call.h"
#include "memory.h"

namespace crisol_torch {

namespace {

namespace ops = crisol::ops;
using crisol::RnnCell;
using crisol::RnnInput;
using crisol::RnnOptions;
using crisol::RnnWeights;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

crisol::Tensor view_of(const at::Tensor& x) { return x.defined() ? tensor_of(x) : crisol::Tensor(); }
at::Tensor wrapped(const crisol::Tensor& x) { return x.defined() ? wrap(x) : at::Tensor(); }

// A result in memory of its own.
at::Tensor apart(const crisol::Tensor& x, const ops::RnnSaved& saved) {
  for (const crisol::Tensor* one : {&saved.gates, &saved.states, &saved.cells, &saved.projected})
    if (x.defined() && one->defined() && x.shares_storage_with(*one)) return wrap(ops::clone(x));
  return wrapped(x);
}

// The tensors of a layer in one direction: x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh, weight_hr. They may be
// undefined.
constexpr std::size_t tensor_count = 8;

RnnInput input_of(const variable_list& x) { return {view_of(x[0]), view_of(x[1]), view_of(x[2]), {}}; }
RnnWeights weights_of(const variable_list& x) {
  return {view_of(x[3]), view_of(x[4]), view_of(x[5]), view_of(x[6]), view_of(x[7])};
}

using Optional = std::optional<at::Tensor>;
at::Tensor tensor_or_none(const Optional& x) { return x.value_or(at::Tensor()); }

// One layer in one direction: y, h_n, and c_n of an LSTM.
class Layer : public torch::autograd::Function<Layer> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& h0, const Optional& c0,
                               const at::Tensor& weight_ih, const at::Tensor& weight_hh, const Optional& bias_ih,
                               const Optional& bias_hh, const Optional& weight_hr, std::int64_t cell, bool reverse) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    variable_list tensors{x,
                          h0,
                          tensor_or_none(c0),
                          weight_ih,
                          weight_hh,
                          tensor_or_none(bias_ih),
                          tensor_or_none(bias_hh),
                          tensor_or_none(weight_hr)};
    const RnnOptions options{static_cast<RnnCell>(cell), reverse};
    return guarded([&] {
      const ops::RnnResult result = ops::rnn_forward(input_of(tensors), weights_of(tensors), options);
      // The results may be views of what backward reads, and a program may change results in place.
      variable_list results{apart(result.y, result.saved), apart(result.h_n, result.saved)};
      if (result.c_n.defined()) results.push_back(apart(result.c_n, result.saved));
      for (const crisol::Tensor* one :
           {&result.saved.gates, &result.saved.states, &result.saved.cells, &result.saved.projected})
        tensors.push_back(wrapped(*one));
      context->save_for_backward(std::move(tensors));
      context->saved_data["cell"] = cell;
      context->saved_data["reverse"] = reverse;
      return results;
    });
  }

  static variable_list backward(AutogradContext* context, const variable_list& dy) {
    TORCH_CHECK(!at::GradMode::is_enabled(),
                "crisol: a recurrent layer has no second gradient on the device. torch.crisol.set_recurrent(\"cells\") "
                "computes layers step by step, with second gradients");
    const variable_list saved = context->get_saved_variables();
    const RnnOptions options{static_cast<RnnCell>(context->saved_data["cell"].toInt()),
                             context->saved_data["reverse"].toBool()};
    // PyTorch counts only the tensors that are defined.
    std::array<bool, tensor_count> wants{};
    for (std::size_t i = 0, edge = 0; i < tensor_count; ++i)
      if (saved[i].defined()) wants[i] = context->needs_input_grad(edge++);
    const ops::RnnWanted wanted{wants[0], wants[1], wants[2], wants[3], wants[4], wants[5], wants[6], wants[7]};
    return guarded([&] {
      const ops::RnnSaved values{view_of(saved[8]), view_of(saved[9]), view_of(saved[10]), view_of(saved[11])};
      const ops::RnnOutputGradients gradients{view_of(dy[0]), view_of(dy[1]),
                                              dy.size() > 2 ? view_of(dy[2]) : crisol::Tensor()};
      const ops::RnnInputGradients dx =
          ops::rnn_backward(gradients, input_of(saved), weights_of(saved), options, values, wanted);
      const RnnWeights& dw = dx.weights;
      return variable_list{wrapped(dx.x),         wrapped(dx.h0),      wrapped(dx.c0),      wrapped(dw.weight_ih),
                           wrapped(dw.weight_hh), wrapped(dw.bias_ih), wrapped(dw.bias_hh), wrapped(dw.weight_hr),
                           at::Tensor(),          at::Tensor()};
    });
  }
};

std::atomic<bool> whole_sequences = true;

// Whether the library computes a layer: one type of floating-point numbers that it takes, and at least one step.
bool takes(const at::Tensor& input, at::TensorList states, at::TensorList weights) {
  const at::ScalarType type = input.scalar_type();
  if (!whole_sequences || (type != at::kFloat && type != at::kHalf && type != at::kBFloat16)) return false;
  if (input.dim() != 3 || input.numel() == 0) return false;
  const auto fits = [&](const at::Tensor& x) {
    return x.is_privateuseone() && x.scalar_type() == type && x.device() == input.device();
  };
  return std::all_of(states.begin(), states.end(), fits) && std::all_of(weights.begin(), weights.end(), fits);
}

struct Settings {
  bool has_biases;
  std::int64_t num_layers;
  double dropout;
  bool train, bidirectional, batch_first;
};

// All layers: (y, h_n, c_n). `states` holds h0, and c0 of an LSTM.
std::array<at::Tensor, 3> run(RnnCell cell, const at::Tensor& input, at::TensorList states, at::TensorList weights,
                              const Settings& settings) {
  const std::int64_t directions = settings.bidirectional ? 2 : 1;
  const auto layers = static_cast<std::size_t>(settings.num_layers * directions);
  TORCH_CHECK(layers > 0 && weights.size() % layers == 0, "crisol: ", weights.size(), " weights for ", layers,
              " layers");
  const std::size_t each = weights.size() / layers;
  const bool projects = each == (settings.has_biases ? 5u : 3u);
  at::Tensor x = settings.batch_first ? input.transpose(0, 1) : input;
  std::vector<at::Tensor> last_h, last_c;
  for (std::int64_t layer = 0; layer < settings.num_layers; ++layer) {
    std::vector<at::Tensor> outputs;
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::int64_t number = layer * directions + direction;
      const auto weight = [&](std::size_t i) { return weights[static_cast<std::size_t>(number) * each + i]; };
      const auto optional = [](bool given, const at::Tensor& one) { return given ? Optional(one) : std::nullopt; };
      const variable_list result =
          Layer::apply(x, states[0][number], optional(states.size() > 1, states.back()[number]), weight(0), weight(1),
                       optional(settings.has_biases, weight(each > 3 ? 2 : 0)),
                       optional(settings.has_biases, weight(each > 3 ? 3 : 0)), optional(projects, weight(each - 1)),
                       static_cast<std::int64_t>(cell), direction == 1);
      outputs.push_back(result[0]);
      last_h.push_back(result[1]);
      if (states.size() > 1) last_c.push_back(result[2]);
    }
    x = directions == 1 ? outputs[0] : at::cat(outputs, 2);
    if (settings.dropout > 0 && settings.train && layer + 1 < settings.num_layers)
      x = at::dropout(x, settings.dropout, true);
  }
  return {settings.batch_first ? x.transpose(0, 1) : x, at::stack(last_h),
          last_c.empty() ? at::Tensor() : at::stack(last_c)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm(const at::Tensor& input, at::TensorList states,
                                                    at::TensorList weights, bool has_biases, std::int64_t num_layers,
                                                    double dropout, bool train, bool bidirectional, bool batch_first) {
  if (states.size() != 2 || !takes(input, states, weights))
    return at::native::lstm(input, states, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first);
  const auto [y, h, c] =
      run(RnnCell::lstm, input, states, weights, {has_biases, num_layers, dropout, train, bidirectional, batch_first});
  return {y, h, c};
}

using OneState = std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&, at::TensorList, bool,
                                                    std::int64_t, double, bool, bool, bool);

template <RnnCell cell, OneState* by_cells>
std::tuple<at::Tensor, at::Tensor> one_state(const at::Tensor& input, const at::Tensor& state, at::TensorList weights,
                                             bool has_biases, std::int64_t num_layers, double dropout, bool train,
                                             bool bidirectional, bool batch_first) {
  if (!takes(input, state, weights))
    return by_cells(input, state, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first);
  const auto results =
      run(cell, input, state, weights, {has_biases, num_layers, dropout, train, bidirectional, batch_first});
  return {results[0], results[1]};
}

void register_layers(torch::Library& m) {
  m.impl("lstm.input", lstm);
  m.impl("gru.input", one_state<RnnCell::gru, at::native::gru>);
  m.impl("rnn_tanh.input", one_state<RnnCell::tanh, at::native::rnn_tanh>);
  m.impl("rnn_relu.input", one_state<RnnCell::relu, at::native::rnn_relu>);
}

}  // namespace

void set_whole_sequences(bool whole) noexcept { whole_sequences = whole; }

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) { register_layers(m); }
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { register_layers(m); }

}  // namespace crisol_torch
