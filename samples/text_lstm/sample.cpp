#include "sample.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "crisol/autograd.h"
#include "crisol/functions/sampling.h"
#include "crisol/random.h"
#include "model.h"

namespace text_lstm {

namespace {

using crisol::Tensor;

// The network's first input is the prompt. Without a prompt it is a line break, or the first character of the
// vocabulary if that has no line break.
std::vector<std::int64_t> first_characters(const std::string& prompt, const Vocabulary& vocabulary) {
  if (!prompt.empty()) return vocabulary.encode(decode_utf8(prompt, "the prompt"), "the prompt");
  const auto newline = static_cast<std::int64_t>(vocabulary.characters().find(U'\n'));
  return {std::max<std::int64_t>(newline, 0)};
}

}  // namespace

int sample(const SampleOptions& options) {
  Trained trained = load_weights(options.weights);
  const std::vector<std::int64_t> prompt = first_characters(options.prompt, trained.vocabulary);
  const std::int64_t top_k = std::min(options.top_k, trained.vocabulary.size());
  const crisol::NoGrad no_grad;
  crisol::manual_seed(options.seed);
  const auto length = static_cast<std::int64_t>(prompt.size());
  auto [logits, state] = trained.model.run(crisol::from_vector(prompt, {length, 1}), {});
  logits = logits.narrow(0, length - 1, 1);
  std::printf("%s", options.prompt.c_str());
  for (std::int64_t i = 0; i < options.length; ++i) {
    const Tensor next = crisol::sample_logits(logits, options.temperature, top_k);
    // Queued before the program waits for the character.
    std::tie(logits, state) = trained.model.run(next.reshape({1, 1}), state);
    const auto character = next.item<std::int64_t>();
    if (character < 0) throw std::runtime_error(options.weights + " gives logits that are no numbers");
    std::printf("%s", trained.vocabulary.utf8(character).c_str());
    std::fflush(stdout);
  }
  std::printf("\n");
  return 0;
}

}  // namespace text_lstm
