#include "classify.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "crisol/crisol.h"
#include "data.h"
#include "digit_image.h"
#include "draw.h"
#include "evaluate.h"
#include "model.h"

namespace mnist {

namespace {

void classify_one(crisol::nn::Module& model, const std::string& picture) {
  const DigitImage image = read_digit(picture);
  std::vector<float> input(image.size());
  std::transform(image.begin(), image.end(), input.begin(),
                 [](std::uint8_t pixel) { return (static_cast<float>(pixel) / 255 - mean) / deviation; });
  const std::vector<float> logits = model(crisol::from_vector(input, {1, 1, 28, 28})).to_vector<float>();
  const std::vector<double> p = softmax(logits.data(), logits.size());
  std::vector<int> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return p[static_cast<std::size_t>(a)] > p[static_cast<std::size_t>(b)]; });
  std::printf("%s: %d\n", picture.c_str(), order[0]);
  for (const int digit : order) {
    const double share = p[static_cast<std::size_t>(digit)];
    if (share < 0.001) break;
    std::printf("  %d  %5.1f %%  %s\n", digit, 100 * share,
                std::string(static_cast<std::size_t>(share * 40), '#').c_str());
  }
  std::printf("%s", draw_image(image.data(), 28, 28).c_str());
}

}  // namespace

int classify(const std::string& weights, const std::vector<std::string>& pictures) {
  const std::unique_ptr<crisol::nn::Module> model = load_model(weights);
  model->eval();
  const crisol::NoGrad no_grad;
  int status = 0;
  for (const std::string& picture : pictures) {
    try {
      classify_one(*model, picture);
    } catch (const crisol::Error&) {
      throw;  // The device or the library failed. Other pictures would fail in the same way.
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "mnist: %s\n", error.what());
      status = 1;
    }
  }
  return status;
}

}  // namespace mnist
