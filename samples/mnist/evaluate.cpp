#include "evaluate.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "crisol/autograd.h"
#include "crisol/io/data_loader.h"
#include "draw.h"

namespace mnist {

std::vector<double> softmax(const float* logits, std::size_t classes) {
  const double largest = *std::max_element(logits, logits + classes);
  std::vector<double> probabilities(classes);
  double sum = 0;
  for (std::size_t i = 0; i < classes; ++i)
    sum += probabilities[i] = std::exp(static_cast<double>(logits[i]) - largest);
  for (double& p : probabilities) p /= sum;
  return probabilities;
}

Evaluation evaluate(crisol::nn::Module& model, const crisol::io::SharedDataset& dataset) {
  const crisol::NoGrad no_grad;
  const bool was_training = model.training();
  model.eval();
  Evaluation result;
  crisol::io::DataLoader loader(dataset, {256});
  for (const crisol::io::Batch& batch : loader) {
    const std::vector<float> logits = model(batch.input).to_vector<float>();
    const std::vector<std::int64_t> labels = batch.target.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::vector<double> p = softmax(&logits[10 * i], 10);
      const int predicted = static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin());
      const int label = static_cast<int>(labels[i]);
      ++result.confusion[static_cast<std::size_t>(label)][static_cast<std::size_t>(predicted)];
      if (predicted == label)
        ++result.correct;
      else
        result.mistakes.push_back({result.count, label, predicted, p[static_cast<std::size_t>(predicted)]});
      ++result.count;
    }
  }
  std::stable_sort(result.mistakes.begin(), result.mistakes.end(),
                   [](const Mistake& a, const Mistake& b) { return a.probability > b.probability; });
  model.train(was_training);
  return result;
}

std::string confusion_table(const Evaluation& evaluation) {
  std::ostringstream out;
  out << "true \\ predicted";
  for (int d = 0; d < 10; ++d) out << std::setw(6) << d;
  out << '\n';
  for (std::size_t label = 0; label < 10; ++label) {
    out << std::setw(16) << label;
    for (const int n : evaluation.confusion[label]) {
      if (n == 0)
        out << std::setw(6) << '.';
      else
        out << std::setw(6) << n;
    }
    out << '\n';
  }
  return out.str();
}

std::string draw_mistakes(const Evaluation& evaluation, const crisol::io::ImageSet& images, std::size_t count) {
  std::ostringstream out;
  const std::size_t shown = std::min(count, evaluation.mistakes.size());
  const auto size = static_cast<std::size_t>(images.rows * images.columns);
  for (std::size_t i = 0; i < shown; ++i) {
    const Mistake& mistake = evaluation.mistakes[i];
    out << "image " << mistake.index << ": a " << mistake.label << ", taken for a " << mistake.predicted << " with "
        << std::fixed << std::setprecision(1) << 100 * mistake.probability << " %\n"
        << draw_image(images.pixels.data() + static_cast<std::size_t>(mistake.index) * size,
                      static_cast<int>(images.rows), static_cast<int>(images.columns));
  }
  return out.str();
}

}  // namespace mnist
