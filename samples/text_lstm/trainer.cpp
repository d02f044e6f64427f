#include "trainer.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "crisol/autograd.h"
#include "crisol/functions/loss.h"
#include "crisol/io/checkpoint.h"
#include "crisol/random.h"

namespace text_lstm {

namespace {

using crisol::DType;
using crisol::Shape;
using crisol::Tensor;

// The seed determines the initial weights, so it is set before the model is made.
CharModel seeded_model(std::int64_t characters, const Settings& settings) {
  crisol::manual_seed(settings.seed);
  return CharModel(characters, settings);
}

// Each stream has 64 characters or more, so that the network knows what came before. Up to 100 streams make it fast.
std::int64_t validation_streams(const Text& text) {
  return std::clamp<std::int64_t>((static_cast<std::int64_t>(text.validation_count()) - 1) / 64, 1, 100);
}

// The streams of the validation text that belong to this rank, and their share of all.
std::pair<Streams, double> own_validation(const Text& text, const samples::Ranks& ranks) {
  const Streams all(text.characters, text.train_end, text.characters.size(), validation_streams(text));
  const std::int64_t own = ranks.part_of(all.count());
  return {all.part(ranks.first_of(all.count()), own), static_cast<double>(own) / static_cast<double>(all.count())};
}

std::int64_t stream_length(const Text& text, const Settings& settings) {
  return (static_cast<std::int64_t>(text.train_end) - 1) / settings.batch;
}

}  // namespace

std::string Text::fingerprint() const {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  const auto add = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3u; };
  for (const char32_t character : vocabulary.characters()) add(character);
  for (const std::int64_t character : characters) add(static_cast<std::uint64_t>(character));
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return std::to_string(characters.size()) + " characters, hash " + digits;
}

Text load_text(const std::string& path) {
  const std::string name = path.empty() ? "crisol's README and docs (--text FILE reads another text)" : path;
  const std::u32string text = decode_utf8(path.empty() ? embedded_text() : read_text(path), name);
  if (text.empty()) throw std::runtime_error(name + " is empty");
  Vocabulary vocabulary(text);
  std::vector<std::int64_t> characters = vocabulary.encode(text, name);
  const std::size_t train_end = characters.size() - characters.size() / 10;
  return {name, std::move(vocabulary), std::move(characters), train_end};
}

void check_length(const Text& text, const Settings& settings) {
  const std::string size = text.name + " has " + std::to_string(text.characters.size()) + " characters: ";
  if (text.validation_count() < 2)
    throw std::runtime_error(size + "a tenth is kept for validation, which takes at least 2");
  if (stream_length(text, settings) < settings.window)
    throw std::runtime_error(size + std::to_string(text.train_end) + " to train on, but --batch " +
                             std::to_string(settings.batch) + " and --window " + std::to_string(settings.window) +
                             " take at least " + std::to_string(settings.batch * settings.window + 1));
}

std::int64_t steps_of_epoch(const Text& text, const Settings& settings) {
  return stream_length(text, settings) / settings.window;
}

Trainer::Trainer(const Text& text, const Settings& settings, const samples::Ranks& ranks)
    : ranks_(ranks),
      settings_(settings),
      fingerprint_(text.fingerprint()),
      model_(seeded_model(text.vocabulary.size(), settings)),
      optimizer_(model_.parameters(), settings.lr),
      schedule_(optimizer_, settings.lr, settings.steps, {.pct_start = 0.1, .cycle_momentum = false}),
      parallel_(ranks, model_),
      precision_(settings.dtype),
      train_(Streams(text.characters, 0, text.train_end, settings.batch)
                 .part(ranks.first_of(settings.batch), ranks.part_of(settings.batch))),
      validation_(own_validation(text, ranks).first),
      validation_share_(own_validation(text, ranks).second),
      loss_sum_(crisol::zeros({})) {
  parallel_.set_weight(static_cast<double>(streams()));
  set_generator(crisol::default_generator().state());
}

// Each rank leaves out other elements in dropout.
void Trainer::set_generator(crisol::GeneratorState state) {
  state.seed = settings_.seed + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(ranks_.rank());
  crisol::default_generator().set_state(state);
}

void Trainer::step() {
  const std::int64_t window = steps_done() % (train_.length() / settings_.window);
  if (window == 0) state_ = {};
  const Tensor loss = loss_of(window * settings_.window);
  crisol::optim::GradScaler& scaler = precision_.scaler();
  optimizer_.zero_grad();
  scaler.scale(loss).backward();
  scaler.unscale_(optimizer_);
  crisol::optim::clip_grad_norm(optimizer_.parameters(), settings_.clip);
  scaler.step(optimizer_);
  scaler.update();
  schedule_.step();
  loss_sum_.add_(loss.detach());
  ++losses_;
}

Tensor Trainer::loss_of(std::int64_t first) {
  const crisol::Autocast autocast = precision_.autocast();
  const auto [logits, last] = model_.run(train_.inputs(first, settings_.window), state_);
  state_ = last.detach();  // Gradients do not flow back beyond a window.
  return crisol::cross_entropy(logits, train_.targets(first, settings_.window));
}

double Trainer::loss() const {
  return loss_sum_.item<double>() / static_cast<double>(std::max<std::int64_t>(losses_, 1));
}

double Trainer::take_loss() {
  const double mean = ranks_.sum(loss() * share());
  loss_sum_.zero_();
  losses_ = 0;
  return mean;
}

double Trainer::validate() {
  constexpr std::int64_t max_rows = 128;
  const crisol::NoGrad no_grad;
  model_.eval();
  crisol::nn::LSTMState state;
  double sum = 0;
  for (std::int64_t first = 0; validation_share_ > 0 && first < validation_.length(); first += max_rows) {
    const std::int64_t rows = std::min(max_rows, validation_.length() - first);
    auto [logits, last] = model_.run(validation_.inputs(first, rows), state);
    state = std::move(last);
    sum += crisol::cross_entropy(logits, validation_.targets(first, rows)).item<double>() * static_cast<double>(rows);
  }
  model_.train();
  return ranks_.sum(sum / static_cast<double>(validation_.length()) * validation_share_);
}

// The states of all streams (layers, batch, hidden).
Tensor Trainer::state_of_all(const Tensor& own) const {
  if (ranks_.world() == 1) return own.to(DType::f32);
  Tensor all = crisol::zeros({settings_.layers, settings_.batch, settings_.hidden});
  all.narrow(1, ranks_.first_of(settings_.batch), streams()).copy_from(own);
  ranks_.add_up(all);
  return all;
}

// Afterwards this rank is in the state that load() gives it, so that a run that stops here ends like one that goes on.
void Trainer::save(const std::string& path, const std::string& notes) {
  loss_sum_.mul_(share());
  ranks_.add_up(loss_sum_);
  const Tensor h = state_of_all(state_.h), c = state_of_all(state_.c);
  crisol::GeneratorState generator = crisol::default_generator().state();
  generator.counter = static_cast<std::uint64_t>(ranks_.gather({static_cast<double>(generator.counter)})[0]);
  set_generator(generator);
  if (!ranks_.is_first()) return;
  crisol::io::Metadata metadata = describe(settings_);
  metadata["text"] = fingerprint_;
  metadata["notes"] = notes;
  crisol::NamedTensors carried{{"h", h},
                               {"c", c},
                               {"loss_sum", loss_sum_},
                               {"losses", crisol::full({}, static_cast<double>(losses_), DType::i64)}};
  for (const auto& [name, tensor] : precision_.scaler().state_dict()) carried.emplace_back("scaler." + name, tensor);
  crisol::io::save_checkpoint(
      path, {model_.state_dict(), optimizer_.state_dict(), schedule_.state_dict(), carried, generator, metadata});
}

std::string Trainer::load(const std::string& path) {
  const crisol::io::Checkpoint checkpoint = crisol::io::load_checkpoint(path);
  crisol::io::Metadata wanted = describe(settings_);
  wanted["text"] = fingerprint_;
  require_same(path, wanted, checkpoint.metadata);
  const Shape state{settings_.layers, settings_.batch, settings_.hidden};
  const auto carried = [&](const std::string& name, const Shape& shape, DType dtype) {
    for (const auto& [key, tensor] : checkpoint.carried)
      if (key == name && tensor.shape() == shape && tensor.dtype() == dtype) return tensor;
    throw std::runtime_error(path + " is no checkpoint of text_lstm: carried." + name +
                             " is missing or has another shape");
  };
  const auto own = [&](const Tensor& all) {
    return all.narrow(1, ranks_.first_of(settings_.batch), streams()).contiguous();
  };
  state_ = {own(carried("h", state, DType::f32)), own(carried("c", state, DType::f32))};
  loss_sum_ = carried("loss_sum", {}, DType::f32);
  losses_ = carried("losses", {}, DType::i64).item<std::int64_t>();
  crisol::NamedTensors scaler;
  for (const auto& [name, tensor] : checkpoint.carried)
    if (name.rfind("scaler.", 0) == 0) scaler.emplace_back(name.substr(7), tensor);
  precision_.scaler().load_state_dict(scaler);
  model_.load_state_dict(checkpoint.model);
  optimizer_.load_state_dict(checkpoint.optimizer);
  schedule_.load_state_dict(checkpoint.schedule);
  set_generator(checkpoint.generator);
  const auto notes = checkpoint.metadata.find("notes");
  return notes == checkpoint.metadata.end() ? std::string() : notes->second;
}

}  // namespace text_lstm
