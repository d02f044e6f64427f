// The results of tuning, as text and as JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "cli/tune/measure.h"

namespace crisol::cli::tune {

/// print_row prints one line for the problem. `before` is the variant that was stored for it, if there was one.
void print_heading(std::ostream& out);
void print_row(std::ostream& out, const Measured& measured, const std::optional<std::string>& before);

nlohmann::ordered_json to_json(const Measured& measured, const std::optional<std::string>& before);

/// Milliseconds of all problems, each multiplied by its number of occurrences: with the usual variants, and with the
/// best variants.
struct Total {
  double usual_ms = 0, best_ms = 0;
  void add(const Measured& measured);
};

}  // namespace crisol::cli::tune
