// The onnx_classifier sample: it trains a layer on pictures, and names pictures.
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

#include <filesystem>

#include "crisol/io/safetensors.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

const std::string net = CRISOL_FIXTURES "/classifier.onnx";

/// A grey picture with a bright bar. Pictures differ by `shade`.
void write_bar(const std::string& path, int row, int shade) {
  std::vector<unsigned char> pixels(28 * 28, static_cast<unsigned char>(shade));
  for (int i = 0; i < 28 * 4; ++i) pixels[static_cast<std::size_t>(28 * row + i)] = 230;
  REQUIRE(stbi_write_png(path.c_str(), 28, 28, 1, pixels.data(), 0) != 0);
}

}  // namespace

TEST_CASE("onnx_classifier: trains a layer on a folder of pictures, then names pictures") {
  NEEDS_SAMPLE("onnx_classifier");
  const TemporaryFolder folder;
  const std::string data = folder.path() + "/data", weights = folder.path() + "/weights.safetensors";
  for (int label = 0; label < 2; ++label) {
    const std::string place = data + (label == 0 ? "/high" : "/low");
    std::filesystem::create_directories(place);
    for (int i = 0; i < 30; ++i)
      write_bar(place + '/' + std::to_string(i) + ".png", label == 0 ? 3 + i % 3 : 18 + i % 3, i);
  }
  const ProcessResult trained = run_built(
      "onnx_classifier", {"train", net, "--data", data, "--layer", "fc", "--epochs", "4", "--weights", weights});
  INFO(trained.output);
  REQUIRE(trained.status == 0);
  CHECK(contains(trained.out, "epoch 1/4: train loss "));
  CHECK(contains(trained.out, "test accuracy 100.0 %\nweights saved to "));
  CHECK(io::load_safetensors(weights).size() == 6);

  const std::string labels = folder.path() + "/labels.txt", picture = folder.path() + "/new.png";
  write_file(labels, "high\nlow\n");
  write_bar(picture, 19, 40);
  const ProcessResult named =
      run_built("onnx_classifier", {"classify", net, picture, "--weights", weights, "--labels", labels});
  CHECK(named.status == 0);
  CHECK_MESSAGE(contains(named.out, "new.png: low "), named.output);
  CHECK(contains(named.out, ", high "));
}

TEST_CASE("onnx_classifier: what does not fit is refused") {
  NEEDS_SAMPLE("onnx_classifier");
  const TemporaryFolder folder;
  write_bar(folder.path() + "/a.png", 1, 1);
  check_fails(run_built("onnx_classifier", {"train", net, "--data", folder.path(), "--layer", "head"}),
              {"the model has no parameter head; it has conv1.weight conv1.bias"});
  check_fails(run_built("onnx_classifier", {"classify", net, folder.path() + "/none.png"}), {"none.png"});
  check_fails(run_built("onnx_classifier", {"classify", CRISOL_FIXTURES "/../fuzz/seeds/onnx/mlp", "x.png"}),
              {"a model with one input of f32 (N, channels, height, width) is expected"});
  CHECK(run_built("onnx_classifier", {"train", net}).status != 0);
}
