#include "cli/tune/report.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/format.h"

namespace crisol::cli::tune {

namespace {

double gain_of(const Measured& measured) { return measured.usual().median_ms / measured.winner().median_ms; }

// Describes the change of the stored choice.
std::string change_of(const Measured& measured, const std::optional<std::string>& before) {
  const bool stored = measured.best != 0;
  if (!stored) return before ? "was " + *before : "";
  if (!before) return "new";
  return *before == measured.winner().variant ? "as before" : "was " + *before;
}

}  // namespace

void print_heading(std::ostream& out) {
  out << format("%-14s %12s   %-14s %12s %7s  %-14s %s\n", "usual", "time", "best", "time", "gain", "stored",
                "problem");
}

void print_row(std::ostream& out, const Measured& measured, const std::optional<std::string>& before) {
  const VariantTime &usual = measured.usual(), &best = measured.winner();
  const bool same = measured.best == 0;
  out << format("%-14s %12s   %-14s %12s %7s  %-14s ", usual.variant.c_str(), time_text(usual.median_ms).c_str(),
                same ? "" : best.variant.c_str(), same ? "" : time_text(best.median_ms).c_str(),
                same ? "" : format("%.2f x", gain_of(measured)).c_str(), change_of(measured, before).c_str())
      << measured.problem.text << '\n';
  for (const VariantTime& variant : measured.variants)
    if (!variant.wrong.empty())
      out << "  WRONG numbers of " << variant.variant << ": " << variant.wrong << " (against "
          << measured.checked_against << ")\n";
  out << std::flush;
}

nlohmann::ordered_json to_json(const Measured& measured, const std::optional<std::string>& before) {
  nlohmann::ordered_json json{{"problem", measured.problem.text},  {"times", measured.times},
                              {"usual", measured.usual().variant}, {"usual_ms", measured.usual().median_ms},
                              {"best", measured.winner().variant}, {"best_ms", measured.winner().median_ms},
                              {"gain", gain_of(measured)}};
  json["before"] = before ? nlohmann::ordered_json(*before) : nlohmann::ordered_json();
  if (!measured.checked_against.empty()) json["checked_against"] = measured.checked_against;
  for (const VariantTime& variant : measured.variants) {
    nlohmann::ordered_json entry{
        {"variant", variant.variant}, {"median_ms", variant.median_ms}, {"rounds_ms", variant.rounds_ms}};
    if (variant.share_of_bound) entry["share_of_bound"] = *variant.share_of_bound;
    if (!variant.wrong.empty()) entry["wrong"] = variant.wrong;
    json["variants"].push_back(std::move(entry));
  }
  for (const TuningCandidate& candidate : measured.problem.candidates)
    if (!candidate.refusal.empty()) json["refused"][candidate.variant] = candidate.refusal;
  return json;
}

void Total::add(const Measured& measured) {
  usual_ms += static_cast<double>(measured.times) * measured.usual().median_ms;
  best_ms += static_cast<double>(measured.times) * measured.winner().median_ms;
}

}  // namespace crisol::cli::tune
