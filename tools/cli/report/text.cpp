// A report on a terminal.
#include <algorithm>
#include <ostream>

#include "cli/format.h"
#include "cli/report/cards.h"
#include "cli/report/show.h"
#include "cli/terminal.h"

namespace crisol::cli::report {

namespace {

void print_figures(std::ostream& out, const Device& device) {
  std::string group;
  for (const Figure& figure : figures()) {
    if (device.figures.count(figure.key) == 0) continue;
    if (group != figure.group) {
      if (!group.empty()) out << '\n';
      group = figure.group;
      out << format("  %-11s", figure.group);
    } else {
      out << ", ";
    }
    out << figure.title << ' ' << number_text(device.figure(figure.key), figure.decimals) << ' ' << figure.unit;
  }
  if (!group.empty()) out << '\n';
}

void print_workload(std::ostream& out, const Device& device, const Workload& workload) {
  out << format("  %-42s ", workload.title.c_str());
  if (workload.median_ms == 0) {
    out << "left out: " << workload.left_out << '\n';
    return;
  }
  const double estimate = device.estimate_ms(workload);
  out << format("%10s %9.0f %-12s", time_text(workload.median_ms).c_str(), workload.per_second(),
                (workload.item + "/s").c_str());
  if (estimate > 0) out << format(" %10s %6.0f %%", time_text(estimate).c_str(), 100 * estimate / workload.median_ms);
  out << '\n';
}

// The problems with the largest gains.
void print_tuned(std::ostream& out, const Device& device) {
  if (device.tuned.empty()) return;
  constexpr std::size_t most = 5;
  std::vector<TunedProblem> better;
  std::size_t measured = 0;
  for (const TunedProblem& one : device.tuned) {
    measured += one.ms > 0 ? 1 : 0;
    if (one.variant != one.usual) better.push_back(one);
  }
  std::stable_sort(better.begin(), better.end(),
                   [](const TunedProblem& a, const TunedProblem& b) { return a.gain() > b.gain(); });
  out << "  tuned       " << measured << " problems, of which " << better.size()
      << " have a better variant than the usual one";
  if (measured < device.tuned.size())
    out << "; " << device.tuned.size() - measured << " more as usual, for want of time or of other variants";
  out << '\n';
  for (std::size_t i = 0; i < std::min(most, better.size()); ++i) {
    const TunedProblem& one = better[i];
    out << format("              %.2f x  %s %s, %s %s: ", one.gain(), one.variant.c_str(), time_text(one.ms).c_str(),
                  one.usual.c_str(), time_text(one.usual_ms).c_str())
        << one.problem << '\n';
  }
  if (better.size() > most) out << "              `crisol cache --json` lists them all\n";
}

void print_device(std::ostream& out, const Device& device) {
  out << bold(device.name) << " | " << device.platform << " | " << device.type
      << format(", %.1f GiB\n", static_cast<double>(device.memory) / (1 << 30));
  print_figures(out, device);
  if (!device.workloads.empty())
    out << format("  %-42s %10s %9s %-12s %10s %8s\n", "workload", "measured", "", "", "roofline", "of it");
  for (const Workload& workload : device.workloads) print_workload(out, device, workload);
  print_tuned(out, device);
  for (const Failure& failure : device.failures)
    out << "  FAILED      " << failure.part << ": " << failure.error.substr(0, failure.error.find('\n')) << '\n';
  out << '\n';
}

std::string known_text(double value, int decimals) { return value > 0 ? number_text(value, decimals) : "-"; }

void print_comparison(std::ostream& out, const std::vector<Machine>& machines, bool all_cards) {
  out << "Among public specifications (nothing but the rows marked measured was measured):\n"
      << format("%-13s %-44s %4s %-7s %7s %8s %9s %9s\n", "", "", "year", "memory", "GB", "GB/s", "fp32 TF/s",
                "fp16 TF/s");
  const std::vector<Row> rows = comparison(machines);
  const std::vector<bool> near = near_measured(rows);
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!all_cards && !near[i]) {
      ++left_out;
      continue;
    }
    const Row& row = rows[i];
    const std::string year = row.year > 0 ? std::to_string(row.year) : "-";
    const std::string line =
        format("%-13s %-44.44s %4s %-7s %7.0f %8s %9s %9s%s", row.kind.c_str(), row.name.c_str(), year.c_str(),
               row.memory_type.c_str(), row.memory_gb, known_text(row.gbps, 0).c_str(),
               known_text(row.fp32, row.fp32 < 10 ? 2 : 1).c_str(), known_text(row.fp16, row.fp16 < 10 ? 2 : 1).c_str(),
               row.matrix ? " m" : "");
    out << (row.measured ? bold(line) : line) << '\n';
  }
  if (left_out > 0) out << left_out << " more specifications: --cards shows them.\n";
  out << "m: in matrix units. Sources: TechPowerUp's GPU database (2025), fp16 of matrix units and the rest of some "
         "rows "
         "from the vendors' data sheets.\n";
}

}  // namespace

std::string number_text(double value, int decimals) {
  return value >= 1000 ? format("%.0f", value) : format("%.*f", decimals, value);
}

std::string time_text(double ms) {
  if (ms < 1) return format("%.1f us", 1e3 * ms);
  return ms < 1000 ? format("%.2f ms", ms) : format("%.2f s", 1e-3 * ms);
}

std::vector<Row> comparison(const std::vector<Machine>& machines) {
  std::vector<Row> rows;
  for (const Machine& machine : machines)
    for (const Device& device : machine.devices)
      rows.push_back({label_of(machine, device, machines.size() > 1), "measured", "", "", 0,
                      static_cast<double>(device.memory) * 1e-9, device.bandwidth(),
                      device.figure("fp32_gflops") * 1e-3, device.figure("fp16_gflops") * 1e-3, false, true});
  for (const Card& card : cards())
    rows.push_back({card.name, "specification", card.memory_type, text_of(card.source), card.year, card.memory_gb,
                    card.gbps, card.fp32_tflops, card.fp16_tflops, card.fp16_in_matrix_units, false});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.gbps > b.gbps; });
  return rows;
}

std::vector<bool> near_measured(const std::vector<Row>& rows) {
  constexpr std::size_t around = 3;
  std::vector<bool> near(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].measured) continue;
    near[i] = true;
    std::size_t above = 0, below = 0;
    for (std::size_t k = i; k-- > 0 && above < around;)
      if (!rows[k].measured) near[k] = (++above, true);
    for (std::size_t k = i + 1; k < rows.size() && below < around; ++k)
      if (!rows[k].measured) near[k] = (++below, true);
  }
  return near;
}

void print(std::ostream& out, const std::vector<Machine>& machines, bool all_cards) {
  for (const Machine& machine : machines) {
    out << (machine.name.empty() ? "This machine" : machine.name) << ", " << machine.date << ", crisol "
        << machine.crisol << (machine.quick ? ", quick: few samples of small workloads" : "") << "\n\n";
    for (const Device& device : machine.devices) print_device(out, device);
  }
  out << "roofline: operations at the fp32 peak or bytes at the memory's rate, whichever takes longer; of it: its "
         "share "
         "of the\nmeasured time, above 100 % where fewer operations do (Winograd) or data stays in caches.\n\n";
  print_comparison(out, machines, all_cards);
}

}  // namespace crisol::cli::report
