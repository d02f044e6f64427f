// The ops of neural networks for C: products, normalisation, losses, recurrent layers.
#include "c_api/handles.h"
#include "crisol/functions/dropout.h"
#include "crisol/functions/loss.h"
#include "crisol/functions/matmul.h"
#include "crisol/functions/norm.h"
#include "crisol/functions/rnn.h"
#include "crisol/functions/softmax.h"

using namespace crisol;
using namespace crisol::c_api;

crisol_status crisol_matmul(const crisol_tensor* a, const crisol_tensor* b, crisol_tensor** result) {
  return give(result, "matmul", [&] { return matmul(tensor_of(a, "matmul", "a"), tensor_of(b, "matmul", "b")); });
}

crisol_status crisol_linear(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                            crisol_tensor** result) {
  return give_from(x, result, "linear", [&](const Tensor& t) {
    return linear(t, tensor_of(weight, "linear", "weight"), optional_tensor(bias));
  });
}

crisol_status crisol_batch_norm2d(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                                  crisol_tensor* running_mean, crisol_tensor* running_var, int training,
                                  double momentum, double epsilon, crisol_tensor** result) {
  return give_from(x, result, "batch_norm2d", [&](const Tensor& t) {
    return batch_norm2d(t, optional_tensor(weight), optional_tensor(bias), optional_tensor(running_mean),
                        optional_tensor(running_var), {training != 0, momentum, epsilon});
  });
}

crisol_status crisol_instance_norm(const crisol_tensor* x, const crisol_tensor* weight, const crisol_tensor* bias,
                                   crisol_tensor* running_mean, crisol_tensor* running_var, int training,
                                   double momentum, double epsilon, crisol_tensor** result) {
  return give_from(x, result, "instance_norm", [&](const Tensor& t) {
    return instance_norm(t, optional_tensor(weight), optional_tensor(bias), optional_tensor(running_mean),
                         optional_tensor(running_var), {training != 0, momentum, epsilon});
  });
}

crisol_status crisol_group_norm(const crisol_tensor* x, int64_t num_groups, const crisol_tensor* weight,
                                const crisol_tensor* bias, double epsilon, crisol_tensor** result) {
  return give_from(x, result, "group_norm", [&](const Tensor& t) {
    return group_norm(t, num_groups, optional_tensor(weight), optional_tensor(bias), epsilon);
  });
}

crisol_status crisol_layer_norm(const crisol_tensor* x, int rank, const int64_t* sizes, const crisol_tensor* weight,
                                const crisol_tensor* bias, double epsilon, crisol_tensor** result) {
  return give_from(x, result, "layer_norm", [&](const Tensor& t) {
    return layer_norm(t, shape_of(sizes, rank, "layer_norm", "sizes"), optional_tensor(weight), optional_tensor(bias),
                      epsilon);
  });
}

crisol_status crisol_dropout(const crisol_tensor* x, double p, int training, crisol_tensor** result) {
  return give_from(x, result, "dropout", [&](const Tensor& t) { return dropout(t, p, training != 0); });
}

crisol_status crisol_softmax(const crisol_tensor* x, int axis, crisol_tensor** result) {
  return give_from(x, result, "softmax", [&](const Tensor& t) { return softmax(t, axis); });
}

crisol_status crisol_log_softmax(const crisol_tensor* x, int axis, crisol_tensor** result) {
  return give_from(x, result, "log_softmax", [&](const Tensor& t) { return log_softmax(t, axis); });
}

namespace {

Reduction reduction_of(crisol_reduction reduction, const char* op) {
  switch (reduction) {
    case CRISOL_MEAN: return Reduction::mean;
    case CRISOL_SUM: return Reduction::sum;
    case CRISOL_NONE: return Reduction::none;
  }
  fail(ErrorCode::invalid_argument, op, "reduction ", reduction, " is none");
}

}  // namespace

crisol_status crisol_cross_entropy(const crisol_tensor* logits, const crisol_tensor* labels, crisol_reduction reduction,
                                   double label_smoothing, int64_t ignore_index, crisol_tensor** result) {
  constexpr const char* op = "cross_entropy";
  return give(result, op, [&] {
    return cross_entropy(tensor_of(logits, op, "logits"), tensor_of(labels, op, "labels"),
                         {reduction_of(reduction, op), label_smoothing, ignore_index});
  });
}

crisol_status crisol_nll_loss(const crisol_tensor* x, const crisol_tensor* labels, crisol_reduction reduction,
                              int64_t ignore_index, crisol_tensor** result) {
  constexpr const char* op = "nll_loss";
  return give_from(x, result, op, [&](const Tensor& t) {
    return nll_loss(t, tensor_of(labels, op, "labels"), reduction_of(reduction, op), ignore_index);
  });
}

crisol_status crisol_mse_loss(const crisol_tensor* x, const crisol_tensor* target, crisol_reduction reduction,
                              crisol_tensor** result) {
  constexpr const char* op = "mse_loss";
  return give_from(x, result, op, [&](const Tensor& t) {
    return mse_loss(t, tensor_of(target, op, "target"), reduction_of(reduction, op));
  });
}

namespace {

RnnCell cell_of(crisol_rnn_cell cell) {
  switch (cell) {
    case CRISOL_RNN_TANH: return RnnCell::tanh;
    case CRISOL_RNN_RELU: return RnnCell::relu;
    case CRISOL_LSTM: return RnnCell::lstm;
    case CRISOL_GRU: return RnnCell::gru;
  }
  fail(ErrorCode::invalid_argument, "rnn", "cell ", cell, " is none");
}

}  // namespace

crisol_status crisol_rnn(const crisol_rnn_input* input, crisol_tensor** y, crisol_tensor** h_n, crisol_tensor** c_n) {
  return guarded([&] {
    const crisol_rnn_input& given = need(input, "rnn", "input");
    crisol_tensor*& place = need(y, "rnn", "y");
    const RnnInput sequences{tensor_of(given.x, "rnn", "x"), optional_tensor(given.h0), optional_tensor(given.c0),
                             optional_tensor(given.lengths)};
    const RnnWeights weights{tensor_of(given.weight_ih, "rnn", "weight_ih"),
                             tensor_of(given.weight_hh, "rnn", "weight_hh"), optional_tensor(given.bias_ih),
                             optional_tensor(given.bias_hh), optional_tensor(given.weight_hr)};
    require(c_n == nullptr || given.cell == CRISOL_LSTM, "rnn", "c_n: only an LSTM has cell states");
    const RnnOutput output = rnn(sequences, weights, {cell_of(given.cell), given.reverse != 0});
    auto all = std::make_unique<crisol_tensor>(crisol_tensor{output.y});
    give_both(h_n, output.h_n, c_n, output.c_n);
    place = all.release();
  });
}
