// Options that the samples' command lines share.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

#include "crisol/error.h"
#include "crisol/trace.h"

namespace samples {

/// Adds `--trace` to a program. The timeline starts as soon as the option is read.
inline void add_trace(CLI::App& app) {
  app.add_option_function<std::string>(
      "--trace",
      [](const std::string& file) {
        try {
          crisol::trace::start(file);
        } catch (const crisol::Error& error) {
          throw CLI::ValidationError("--trace", error.what());
        }
      },
      "Write a timeline of the program here, for ui.perfetto.dev or chrome://tracing");
}

/// Adds `--device` and `--trace` to a program.
inline void add_device(CLI::App& app, std::string& device) {
  add_trace(app);
  app.add_option("--device", device,
                 "gpu, cpu or accelerator, platform:device, or a part of a name, each with an optional :n; wins over "
                 "CRISOL_DEVICE");
}

/// Checks of an option's text. They return an error message, or an empty string when the text is valid.
inline std::string check_rate(const std::string& text) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value)) return {};
  return text + " is not a positive number";
}

inline std::string check_seed(const std::string& text) {
  return text.find('-') == std::string::npos ? std::string() : text + " is negative";
}

}  // namespace samples
