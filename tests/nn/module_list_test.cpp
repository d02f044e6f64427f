// Lists and dictionaries of modules, small layers, printing.
#include "crisol/nn/module_list.h"

#include <sstream>

#include "crisol/crisol.h"
#include "doctest/doctest.h"
#include "support/compare.h"

namespace crisol {

namespace {

using testing::check_close;
using testing::check_error;
using testing::tensor_of;
using testing::values_of;

std::string printed(const nn::Module& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

struct Scaled : nn::Module {
  Scaled() : gain(ones({3})) {
    register_parameter("gain", gain);
    register_module("hidden", hidden);
  }
  nn::Parameter gain;
  nn::Sequential hidden{nn::Linear(3, 4, {.bias = false}), nn::Softmax(-1)};
};

}  // namespace

TEST_CASE("ModuleList and ModuleDict hold modules by number and by name") {
  nn::ModuleList list(nn::Linear(2, 2), nn::ReLU());
  nn::Linear last(2, 1);
  list.append(last);
  CHECK(list.size() == 3);
  Tensor x = ones({1, 2});
  for (nn::Module* module : list) x = (*module)(x);
  CHECK(x.shape() == Shape{1, 1});
  list.at<nn::Linear>(2).bias = full({1}, 8);
  check_close(last.bias, {8}, {0});
  CHECK(list.named_parameters()[2].first == "2.weight");
  check_error([&] { list[3]; }, {"[module]", "'3'"});
  check_error([&] { list(x); }, {"[Module]", "no forward"});

  nn::ModuleDict heads;
  heads.insert("digit", nn::Linear(2, 10)).insert("slant", last);
  CHECK(heads.size() == 2);
  CHECK(heads.contains("slant"));
  CHECK_FALSE(heads.contains("0"));
  CHECK(heads["digit"](ones({1, 2})).shape() == Shape{1, 10});
  CHECK(heads.at<nn::Linear>("slant").bias.item() == 8);
  CHECK(heads.named_parameters()[0].first == "digit.weight");
  check_error([&] { heads["tilt"]; }, {"[module]", "'tilt'", "digit, slant"});
  check_error([&] { heads.insert("digit", nn::ReLU()); }, {"[Module]", "digit", "taken"});
}

TEST_CASE("Identity, Softmax and LogSoftmax") {
  const Tensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(nn::Identity()(x).shares_storage_with(x));
  check_close(nn::Softmax(1)(x), Shape{2, 3}, values_of(softmax(x, 1)), {0});
  check_close(nn::LogSoftmax(0)(x), Shape{2, 3}, values_of(log_softmax(x, 0)), {0});
}

TEST_CASE("a pooling's stride is its window, and a kernel is named once") {
  const Tensor x = tensor_of(testing::random_values(3, 2 * 6 * 7), {1, 2, 6, 7});
  check_close(nn::MaxPool2d(2)(x), Shape{1, 2, 3, 3}, values_of(max_pool2d(x, {2})), {0});
  check_close(nn::MaxPool2d(3, {.stride = 2, .padding = 1})(x), Shape{1, 2, 3, 4}, values_of(max_pool2d(x, {3, 2, 1})),
              {0});
  check_close(nn::AvgPool2d(2, {.stride = 1})(x), Shape{1, 2, 5, 6}, values_of(avg_pool2d(x, {2, 1})), {0});
  check_error([] { nn::MaxPool2d(2, {.kernel = 3}); }, {"[MaxPool2d]", "(2, 2)", "(3, 3)"});
}

TEST_CASE("modules are printed as in PyTorch") {
  CHECK(printed(Scaled()) ==
        "Scaled(\n"
        "  (hidden): Sequential(\n"
        "    (0): Linear(in_features=3, out_features=4, bias=false)\n"
        "    (1): Softmax(dim=-1)\n"
        "  )\n"
        ")");
  CHECK(printed(nn::Sequential()) == "Sequential()");
  CHECK(printed(nn::ModuleList(nn::ReLU(), nn::ReLU(), nn::Linear(1, 2), nn::Linear(1, 2), nn::Linear(2, 1))) ==
        "ModuleList(\n"
        "  (0-1): 2 x ReLU()\n"
        "  (2-3): 2 x Linear(in_features=1, out_features=2, bias=true)\n"
        "  (4): Linear(in_features=2, out_features=1, bias=true)\n"
        ")");
  const nn::Sequential block{nn::ReLU(), nn::ReLU()};
  CHECK(printed(nn::ModuleList(block, nn::clone(block))) ==
        "ModuleList(\n"
        "  (0-1): 2 x Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): ReLU()\n"
        "  )\n"
        ")");
  CHECK(printed(nn::Linear(999, 1000, {.bias = true})) == "Linear(in_features=999, out_features=1000, bias=true)");
  CHECK(printed(nn::Conv2d(4, 6, {3, 5}, {.stride = 2, .padding = 1, .groups = 2, .bias = false})) ==
        "Conv2d(4, 6, kernel_size=(3, 5), stride=(2, 2), padding=(1, 1), groups=2, bias=false)");
  CHECK(printed(nn::BatchNorm2d(2)) ==
        "BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=true, bias=true, track_running_stats=true)");
  CHECK(printed(nn::LayerNorm({2, 3})) == "LayerNorm((2, 3), eps=1e-05, elementwise_affine=true, bias=true)");
  CHECK(printed(nn::LSTM(2, 1, {.num_layers = 2, .bidirectional = true})) ==
        "LSTM(2, 1, num_layers=2, bidirectional=true)");
  CHECK(printed(nn::RNNCell(1, 1, {.bias = false, .nonlinearity = nn::Nonlinearity::relu})) ==
        "RNNCell(1, 1, bias=false, nonlinearity=relu)");
  CHECK(printed(nn::Embedding(5, 2, {.padding_idx = -1})) == "Embedding(5, 2, padding_idx=4)");
  CHECK(printed(nn::MaxPool2d(2)) == "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=false)");
  CHECK(printed(nn::AdaptiveAvgPool2d(7)) == "AdaptiveAvgPool2d(output_size=(7, 7))");
  CHECK(printed(nn::Dropout(0.1)) == "Dropout(p=0.1, inplace=false)");
  CHECK(printed(nn::Flatten()) == "Flatten(start_dim=1, end_dim=-1)");
  CHECK(printed(nn::ELU(2)) == "ELU(alpha=2.0)");
  CHECK(printed(nn::ReLU6()) == "ReLU6()");
  CHECK(printed(nn::StackedLSTM(1, 1))
            .find("StackedLSTM(\n  dropout=0.5\n  (layers): ModuleList(\n    (0): LSTMCell(1, 1)") == 0);
}

}  // namespace crisol
