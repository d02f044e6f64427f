// The C interface: layers and losses, compared with the C++ ones.
#include "c_api/handle.h"
#include "crisol/crisol.h"

using namespace crisol;
using namespace crisol::testing::c_api;

TEST_CASE("C: layers are the C++ functions") {
  manual_seed(5);
  const Tensor tx = randn({2, 2, 6, 6}), tw = randn({4, 1, 3, 3}), tb = randn({4});
  const auto handle = [](const Tensor& t) { return t.to_vector<float>(); };
  Handle x(handle(tx), {2, 2, 6, 6}), w(handle(tw), {4, 1, 3, 3}), b(handle(tb), {4}), y;
  const crisol_conv2d_options conv{{2, 1}, {1, 0}, {1, 2}, 2};
  OK(crisol_conv2d(x.get(), w.get(), b.get(), &conv, y.place()));
  CHECK(values_of(y.get()) == conv2d(tx, tw, tb, {{2, 1}, {1, 0}, {1, 2}, 2}).to_vector<float>());
  const crisol_pool2d_options pool{{3, 2}, {2, 2}, {1, 1}, {1, 1}, 1, 0};
  OK(crisol_max_pool2d(x.get(), &pool, y.place()));
  CHECK(values_of(y.get()) == max_pool2d(tx, {{3, 2}, 2, 1, 1, true}).to_vector<float>());
  OK(crisol_avg_pool2d(x.get(), &pool, y.place()));
  CHECK(values_of(y.get()) == avg_pool2d(tx, {{3, 2}, 2, 1, true, false}).to_vector<float>());
  OK(crisol_adaptive_avg_pool2d(x.get(), 3, 2, y.place()));
  CHECK(values_of(y.get()) == adaptive_avg_pool2d(tx, {3, 2}).to_vector<float>());
  refused(crisol_max_pool2d(x.get(), nullptr, y.place()), CRISOL_INVALID_ARGUMENT, {"options is null"});
  OK(crisol_batch_norm2d(x.get(), nullptr, nullptr, nullptr, nullptr, 1, 0.1, 1e-5, y.place()));
  CHECK(values_of(y.get()) == batch_norm2d(tx, Tensor(), Tensor(), Tensor(), Tensor()).to_vector<float>());
  OK(crisol_instance_norm(x.get(), nullptr, nullptr, nullptr, nullptr, 1, 0.1, 1e-5, y.place()));
  CHECK(values_of(y.get()) == instance_norm(tx).to_vector<float>());
  OK(crisol_group_norm(x.get(), 2, nullptr, nullptr, 1e-5, y.place()));
  CHECK(values_of(y.get()) == group_norm(tx, 2).to_vector<float>());
  refused(crisol_group_norm(x.get(), 3, nullptr, nullptr, 1e-5, y.place()), CRISOL_INVALID_ARGUMENT, {"3 groups"});
  const std::int64_t six = 6;
  OK(crisol_layer_norm(x.get(), 1, &six, nullptr, nullptr, 1e-5, y.place()));
  CHECK(values_of(y.get()) == layer_norm(tx, {6}).to_vector<float>());
  OK(crisol_softmax(x.get(), -1, y.place()));
  CHECK(values_of(y.get()) == softmax(tx, -1).to_vector<float>());
  OK(crisol_log_softmax(x.get(), 1, y.place()));
  CHECK(values_of(y.get()) == log_softmax(tx, 1).to_vector<float>());
  OK(crisol_dropout(x.get(), 0.5, 0, y.place()));
  CHECK(values_of(y.get()) == values_of(x.get()));

  Handle a({1, 2, 3, 4}, {2, 2}), c({1, 1}, {2});
  OK(crisol_matmul(a.get(), a.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{7, 10, 15, 22});
  OK(crisol_linear(a.get(), a.get(), c.get(), y.place()));
  CHECK(values_of(y.get()) == Floats{6, 12, 12, 26});
  Handle labels(Longs{1, 0});
  const Tensor ta = from_vector<float>({1, 2, 3, 4}, {2, 2}), tl = from_vector<std::int64_t>({1, 0});
  OK(crisol_cross_entropy(a.get(), labels.get(), CRISOL_SUM, 0.1, -100, y.place()));
  CHECK(values_of(y.get()) == cross_entropy(ta, tl, {Reduction::sum, 0.1}).to_vector<float>());
  OK(crisol_nll_loss(a.get(), labels.get(), CRISOL_NONE, -100, y.place()));
  CHECK(values_of(y.get()) == Floats{-2, -3});
  OK(crisol_mse_loss(a.get(), a.get(), CRISOL_SUM, y.place()));
  CHECK(values_of(y.get()) == Floats{0});
}

TEST_CASE("C: convolutions of sequences are the C++ functions") {
  manual_seed(6);
  const Tensor tx = randn({2, 2, 9}), tw = randn({4, 1, 3}), tb = randn({4}), tu = randn({2, 2, 3});
  const auto handle = [](const Tensor& t) { return t.to_vector<float>(); };
  Handle x(handle(tx), {2, 2, 9}), w(handle(tw), {4, 1, 3}), b(handle(tb), {4}), up(handle(tu), {2, 2, 3}), y;
  const crisol_conv1d_options conv{2, 1, 2, 2};
  OK(crisol_conv1d(x.get(), w.get(), b.get(), &conv, y.place()));
  CHECK(values_of(y.get()) == conv1d(tx, tw, tb, {2, 1, 2, 2}).to_vector<float>());
  const crisol_conv1d_options plain = CRISOL_CONV1D_OPTIONS;
  OK(crisol_conv1d(x.get(), up.get(), nullptr, &plain, y.place()));
  CHECK(values_of(y.get()) == conv1d(tx, tu).to_vector<float>());
  const crisol_conv_transpose1d_options transposed{2, 1, 1, 1, 1};
  OK(crisol_conv_transpose1d(x.get(), up.get(), nullptr, &transposed, y.place()));
  CHECK(values_of(y.get()) == conv_transpose1d(tx, tu, Tensor(), {2, 1, 1}).to_vector<float>());
  const crisol_conv_transpose1d_options defaults = CRISOL_CONV_TRANSPOSE1D_OPTIONS;
  OK(crisol_conv_transpose1d(x.get(), up.get(), nullptr, &defaults, y.place()));
  CHECK(values_of(y.get()) == conv_transpose1d(tx, tu).to_vector<float>());
  refused(crisol_conv1d(x.get(), nullptr, nullptr, nullptr, y.place()), CRISOL_INVALID_ARGUMENT, {"weight"});
}

TEST_CASE("C: layers of volumes are the C++ functions") {
  manual_seed(7);
  const Shape shape{1, 2, 4, 5, 6};
  const Tensor tx = randn(shape), tw = randn({4, 1, 3, 2, 3}), tb = randn({4}), tu = randn({2, 1, 2, 3, 2});
  const auto handle = [](const Tensor& t) { return t.to_vector<float>(); };
  Handle x(handle(tx), {1, 2, 4, 5, 6}), w(handle(tw), {4, 1, 3, 2, 3}), b(handle(tb), {4}),
      up(handle(tu), {2, 1, 2, 3, 2}), y, indices;
  const crisol_conv3d_options conv{{2, 1, 1}, {1, 0, 1}, {1, 2, 1}, 2};
  OK(crisol_conv3d(x.get(), w.get(), b.get(), &conv, y.place()));
  CHECK(values_of(y.get()) == conv3d(tx, tw, tb, {{2, 1, 1}, {1, 0, 1}, {1, 2, 1}, 2}).to_vector<float>());
  const crisol_conv3d_options plain = CRISOL_CONV3D_OPTIONS;
  CHECK(plain.stride[2] == 1);
  const crisol_conv_transpose3d_options transposed{{2, 2, 1}, {1, 0, 0}, {1, 0, 0}, {1, 1, 2}, 2};
  OK(crisol_conv_transpose3d(x.get(), up.get(), nullptr, &transposed, y.place()));
  const ConvTranspose3dOptions same{{2, 2, 1}, {1, 0, 0}, {1, 0, 0}, {1, 1, 2}, 2};
  CHECK(values_of(y.get()) == conv_transpose3d(tx, tu, Tensor(), same).to_vector<float>());
  const crisol_conv_transpose3d_options defaults = CRISOL_CONV_TRANSPOSE3D_OPTIONS;
  CHECK(defaults.groups == 1);
  const crisol_pool3d_options pool{{2, 3, 2}, {2, 2, 1}, {1, 1, 0}, {1, 1, 1}, 1, 0};
  const MaxPool3dOptions window{{2, 3, 2}, {2, 2, 1}, {1, 1, 0}, 1, true};
  OK(crisol_max_pool3d(x.get(), &pool, y.place()));
  CHECK(values_of(y.get()) == max_pool3d(tx, window).to_vector<float>());
  OK(crisol_max_pool3d_with_indices(x.get(), &pool, nullptr, indices.place()));
  CHECK(values_of<std::int64_t>(indices.get()) ==
        max_pool3d_with_indices(tx, window).indices.to_vector<std::int64_t>());
  OK(crisol_avg_pool3d(x.get(), &pool, y.place()));
  CHECK(values_of(y.get()) == avg_pool3d(tx, {{2, 3, 2}, {2, 2, 1}, {1, 1, 0}, true, false}).to_vector<float>());
  OK(crisol_adaptive_avg_pool3d(x.get(), 3, 2, 4, y.place()));
  CHECK(values_of(y.get()) == adaptive_avg_pool3d(tx, {3, 2, 4}).to_vector<float>());
  const crisol_pool3d_options cube = CRISOL_POOL3D_OPTIONS(3);
  CHECK(cube.kernel[1] == 3);
  refused(crisol_avg_pool3d(x.get(), nullptr, y.place()), CRISOL_INVALID_ARGUMENT, {"options is null"});
  refused(crisol_conv3d(x.get(), nullptr, nullptr, nullptr, y.place()), CRISOL_INVALID_ARGUMENT, {"weight"});
}

TEST_CASE("C: an LSTM layer is the C++ one") {
  manual_seed(6);
  const Tensor x = randn({3, 2, 4}), w_ih = randn({8, 4}), w_hh = randn({8, 2}), b_ih = randn({8}), b_hh = randn({8});
  const auto handle = [](const Tensor& t) { return t.to_vector<float>(); };
  Handle hx(handle(x), {3, 2, 4}), hw(handle(w_ih), {8, 4}), hh(handle(w_hh), {8, 2}), hbi(handle(b_ih), {8}),
      hbh(handle(b_hh), {8}), y, h, c;
  crisol_rnn_input input{};
  input.x = hx.get();
  input.weight_ih = hw.get();
  input.weight_hh = hh.get();
  input.bias_ih = hbi.get();
  input.bias_hh = hbh.get();
  input.cell = CRISOL_LSTM;
  input.reverse = 1;
  OK(crisol_rnn(&input, y.place(), h.place(), c.place()));
  const RnnOutput expected = rnn({x, {}, {}, {}}, {w_ih, w_hh, b_ih, b_hh, {}}, {RnnCell::lstm, true});
  CHECK(values_of(y.get()) == expected.y.to_vector<float>());
  CHECK(values_of(h.get()) == expected.h_n.to_vector<float>());
  CHECK(values_of(c.get()) == expected.c_n.to_vector<float>());
  OK(crisol_rnn(&input, y.place(), nullptr, nullptr));
  input.cell = CRISOL_GRU;
  refused(crisol_rnn(&input, y.place(), h.place(), c.place()), CRISOL_INVALID_ARGUMENT, {"c_n", "only an LSTM"});
  input.cell = 8;
  refused(crisol_rnn(&input, y.place(), nullptr, nullptr), CRISOL_INVALID_ARGUMENT, {"cell 8"});
}
