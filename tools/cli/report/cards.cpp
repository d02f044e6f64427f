#include "cli/report/cards.h"

namespace crisol::cli::report {

namespace {

constexpr bool vector = false, matrix = true;

const Card all_cards[] = {
#define CARD(name, year, type, gb, gbps, fp32, fp16, unit, source) \
  {name, year, type, gb, gbps, fp32, fp16, unit, CardSource::source},
#include "cli/report/cards.def"
#undef CARD
};

}  // namespace

std::span<const Card> cards() { return all_cards; }

const char* text_of(CardSource source) {
  switch (source) {
    case CardSource::techpowerup: return "TechPowerUp 2025";
    case CardSource::vendor_matrix: return "TechPowerUp 2025, fp16 data sheet";
    case CardSource::vendor: return "data sheet";
  }
  return "";
}

}  // namespace crisol::cli::report
