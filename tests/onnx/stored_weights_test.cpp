// Weights that stay in the model's file until somebody needs them.
#include <chrono>
#include <filesystem>
#include <thread>

#include "graph/model_file.h"
#include "io/files/mapped_file.h"
#include "support/skip.h"

namespace {

constexpr std::int64_t size = 256;
constexpr std::uint64_t bytes = size * size * sizeof(float);

std::uint64_t used() { return Device().memory_stats().in_use; }

/// y = x · w
ModelFile product(const Tensor& w) { return ModelFile({node("MatMul", {"x", "w"}, {"y"})}, {weight("w", w)}); }

bool stays_in_file() { return io::MappedFile::may_be_replaced(); }

}  // namespace

TEST_CASE("onnx: in evaluation the memory holds a weight once, in the layout that the commands read") {
  if (!stays_in_file()) CRISOL_SKIP("this system does not let a mapped file be replaced");
  manual_seed(3);
  const ModelFile file = product(randn({size, size}));
  const std::uint64_t before = used();
  const onnx::Model model = file.load();
  CHECK(used() == before);
  const NoGrad no_grad;
  for (const std::int64_t rows : {3, 64}) {  // Two programs share the weight.
    model({{"x", ones({rows, size})}});
    CHECK(used() < before + bytes * 3 / 2 + static_cast<std::uint64_t>(rows) * size * 32);
  }
}

TEST_CASE("onnx: weights that were left in the file are read, trained and saved") {
  manual_seed(4);
  const Tensor w = randn({size, size});
  const ModelFile file = product(w);
  onnx::Model model = file.load();
  const Tensor x = randn({5, size});
  const auto evaluated = [&] {
    const NoGrad no_grad;
    return model(x);
  };
  const Tensor expected = matmul(x, w);
  CHECK(evaluated().allclose(expected, 1e-4, 1e-4));
  CHECK(model.state_dict().at(0).second.to_vector<float>() == w.to_vector<float>());
  CHECK(evaluated().allclose(expected, 1e-4, 1e-4));

  model(x).sum().backward();
  const Tensor gradient = x.sum(0).unsqueeze(1).expand({size, size});
  CHECK(model.parameter("w").grad().allclose(gradient, 1e-4, 1e-4));
  optim::SGD(model.parameters(), 0.5).step();
  const Tensor trained = w - gradient * 0.5;
  CHECK(evaluated().allclose(matmul(x, trained), 1e-3, 1e-2));

  // A model can also be saved over its own file, from which another model's weights are still to be read.
  const onnx::Model other = file.load();
  onnx::save(file.path(), model, {x});
  CHECK(file.load().state_dict().at(0).second.allclose(trained, 1e-5, 1e-5));
  CHECK(other.state_dict().at(0).second.to_vector<float>() == w.to_vector<float>());
}

TEST_CASE("onnx: a weight that is written before it was read") {
  const ModelFile file = product(ones({size, size}));
  onnx::Model model = file.load();
  const NoGrad no_grad;
  model.parameter("w").narrow(0, 1, size - 1).copy_from(zeros({size - 1, size}));
  CHECK(model(ones({2, size})).to_vector<float>() == std::vector<float>(2 * size, 1));
  CHECK(nn::clone(model)(ones({2, size})).to_vector<float>() == std::vector<float>(2 * size, 1));
}

TEST_CASE("onnx: a thread reads the weights of a model while others make programs of it") {
  manual_seed(6);
  const Tensor w = randn({size, size});
  const ModelFile file = product(w);
  const std::vector<float> values = w.to_vector<float>();
  for (int i = 0; i < 5; ++i) {
    const onnx::Model model = file.load(), copy = model;
    const Tensor x = randn({7, size}), expected = matmul(x, w);
    const auto agrees = [&](const onnx::Model& own) {
      const NoGrad no_grad;
      return own({{"x", x}})["y"].allclose(expected, 1e-4, 1e-4);
    };
    bool first = false, second = false;
    std::thread a([&] { first = agrees(model); }), b([&] { second = agrees(copy); });
    const bool same_values = model.state_dict().at(0).second.to_vector<float>() == values;
    a.join();
    b.join();
    CHECK(first);
    CHECK(second);
    CHECK(same_values);
  }
}

TEST_CASE("onnx: weights in a file beside the model stay there, and a changed file is refused") {
  if (!stays_in_file()) CRISOL_SKIP("this system does not let a mapped file be replaced");
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/net.onnx", data = folder.path() + "/net.data";
  const std::vector<float> values(size * size, 2);
  write_file(data, std::string(reinterpret_cast<const char*>(values.data()), bytes));
  write_file(path, of::model(of::graph({.nodes = {node("MatMul", {"x", "w"}, {"y"})},
                                        .initializers = {of::external_tensor("w", of::f32, {size, size},
                                                                             {of::entry("location", "net.data")})},
                                        .inputs = {value("x", of::f32, {"1", "256"})},
                                        .outputs = {value("y", of::f32, {"1", "256"})}}),
                             17)
                       .bytes());
  const std::uint64_t before = used();
  onnx::Model model = onnx::load(path);
  CHECK(used() == before);
  const auto run = [&] {
    const NoGrad no_grad;
    return model(ones({1, size})).to_vector<float>();
  };
  const std::vector<float> expected(size, 2 * size);
  CHECK(run() == expected);
  const auto time = std::filesystem::last_write_time(data);
  std::filesystem::last_write_time(data, time + std::chrono::hours(1));
  CHECK(run() == expected);  // The program has the memory that it needs.
  // A GPU's products read the weight as it is stored, so it is there.
  if (Device().info().type == DeviceType::cpu)
    CHECK(refusal(ErrorCode::io, [&] { model.state_dict().at(0).second.to_vector<float>(); }) ==
          doctest::Contains("the file was changed after it was loaded"));
  std::filesystem::last_write_time(data, time);
  CHECK(model.state_dict().at(0).second.to_vector<float>() == values);
}
