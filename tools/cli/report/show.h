// Shows reports to people: as text for a terminal, as a page for a browser.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/report/report.h"

namespace crisol::cli::report {

/// Prints every device with its figures and workloads. Then compares the devices with the specifications of all known
/// cards, or only of the cards next to a measured device.
void print(std::ostream& out, const std::vector<Machine>& machines, bool all_cards);

/// The same contents as one HTML page that needs no other files: roofline, bars and tables. It is light or dark as the
/// browser asks.
std::string page_of(const std::vector<Machine>& machines);

/// One line of the comparison of devices and cards.
struct Row {
  std::string name, kind, memory_type, source;
  int year = 0;                    ///< 0 if it is not known.
  double memory_gb = 0, gbps = 0;  ///< 0 if it is not known, as in the next two lines.
  double fp32 = 0, fp16 = 0;       ///< TFLOP/s.
  bool matrix = false, measured = false;
};

/// Measured devices and specified cards, sorted by falling bandwidth.
std::vector<Row> comparison(const std::vector<Machine>& machines);

/// For each row, whether it was measured or is one of the three specifications above or below a measured row.
std::vector<bool> near_measured(const std::vector<Row>& rows);

/// "1.5 TFLOP/s" for 1500 GFLOP/s, and "3 ms". The text has three digits or `decimals` decimals, whichever shows more.
std::string number_text(double value, int decimals);

/// Milliseconds as us, ms or s.
std::string time_text(double ms);

}  // namespace crisol::cli::report
