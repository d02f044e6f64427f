#include "evaluate.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "crisol/autograd.h"
#include "crisol/io/data_loader.h"
#include "crisol/io/sharded_sampler.h"
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

namespace {

/// The label of an image, and the model's answer.
struct Answer {
  std::int64_t index;
  int label, predicted;
  double probability;
};

// The answers for this rank's part of the dataset.
std::vector<Answer> own_answers(crisol::nn::Module& model, const crisol::io::SharedDataset& dataset,
                                const samples::Ranks& ranks) {
  constexpr std::int64_t batch_size = 256;
  const auto order = std::make_shared<crisol::io::SequentialSampler>(dataset->size());
  const auto own =
      std::make_shared<crisol::io::ShardedSampler>(order, batch_size * ranks.world(), ranks.rank(), ranks.world());
  const std::vector<std::int64_t> indices = own->order(0);
  crisol::io::DataLoaderOptions options;
  options.batch_size = batch_size;
  options.sampler = own;
  crisol::io::DataLoader loader(dataset, options);
  std::vector<Answer> answers;
  for (const crisol::io::Batch& batch : loader) {
    const std::vector<float> logits = model(batch.input).to_vector<float>();
    const std::vector<std::int64_t> labels = batch.target.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::vector<double> p = softmax(&logits[10 * i], 10);
      const int predicted = static_cast<int>(std::max_element(p.begin(), p.end()) - p.begin());
      answers.push_back(
          {indices[answers.size()], static_cast<int>(labels[i]), predicted, p[static_cast<std::size_t>(predicted)]});
    }
  }
  return answers;
}

// The answers of all ranks in the order of the dataset.
std::vector<Answer> all_answers(const std::vector<Answer>& own, const samples::Ranks& ranks) {
  std::vector<double> numbers;
  for (const Answer& a : own)
    numbers.insert(numbers.end(), {static_cast<double>(a.index), static_cast<double>(a.label),
                                   static_cast<double>(a.predicted), a.probability});
  const std::vector<double> gathered = ranks.gather(numbers);
  std::vector<Answer> all;
  for (std::size_t i = 0; i < gathered.size(); i += 4)
    all.push_back({static_cast<std::int64_t>(gathered[i]), static_cast<int>(gathered[i + 1]),
                   static_cast<int>(gathered[i + 2]), gathered[i + 3]});
  std::sort(all.begin(), all.end(), [](const Answer& a, const Answer& b) { return a.index < b.index; });
  return all;
}

}  // namespace

Evaluation evaluate(crisol::nn::Module& model, const crisol::io::SharedDataset& dataset, const samples::Ranks& ranks) {
  const crisol::NoGrad no_grad;
  const bool was_training = model.training();
  model.eval();
  Evaluation result;
  for (const Answer& answer : all_answers(own_answers(model, dataset, ranks), ranks)) {
    ++result.confusion[static_cast<std::size_t>(answer.label)][static_cast<std::size_t>(answer.predicted)];
    if (answer.predicted == answer.label)
      ++result.correct;
    else
      result.mistakes.push_back({answer.index, answer.label, answer.predicted, answer.probability});
    ++result.count;
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
