// A report as one HTML page.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "cli/report/plot.h"
#include "cli/report/show.h"

namespace crisol::cli::report {

namespace {

constexpr const char* style = R"(
:root { color-scheme: light dark; --ink: #1c1f23; --faint: #5b6470; --line: #d5dae0; --back: #ffffff; --spec: #9aa5b1;
  --c0: #2463a6; --c1: #c2570c; --c2: #1a7f44; --c3: #7d3bbd; --c4: #b3261e; --c5: #0f7285; --c6: #8a6100; --c7: #5b6470; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7eaee; --faint: #a3adb8; --line: #3a424c; --back: #14171b; --spec: #66717d;
    --c0: #7ab3f0; --c1: #f29a55; --c2: #5fcb88; --c3: #c79af2; --c4: #f28b82; --c5: #5cc8dc; --c6: #e0bb53; --c7: #b4bec9; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 64rem;
  margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } h3 { font-size: 1rem; margin-bottom: .2rem; }
p, figcaption { color: var(--faint); max-width: 44rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--faint); } td.n, th.n { text-align: right; white-space: nowrap; }
td.b { width: 30%; min-width: 5rem; vertical-align: middle; }
table.bars { table-layout: fixed; } .bars td.b { width: 36%; } .bars td.n { width: 14rem; } tr.spec td { color: var(--faint); }
.cards td:first-child { white-space: nowrap; } .cards th.n { white-space: normal; } .cards td.b { width: 14%; }
.cards th { vertical-align: bottom; } .cards td:last-child { font-size: .8rem; min-width: 15rem; } .scroll { overflow-x: auto; } figure { margin: 0; }
svg.plot { display: block; width: 100%; max-width: 46rem; height: auto; font: 12px system-ui, sans-serif; fill: var(--faint); }
.grid { stroke: var(--line); stroke-width: 1; } .roof { fill: none; stroke: currentColor; stroke-width: 2; }
.sign { fill: currentColor; stroke: var(--back); stroke-width: 1; }
svg.bar { display: block; } svg.bar rect { fill: currentColor; } svg.spec { color: var(--spec); }
svg.legend { vertical-align: -2px; } ul.keys { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); } .c3 { color: var(--c3); }
.c4 { color: var(--c4); } .c5 { color: var(--c5); } .c6 { color: var(--c6); } .c7 { color: var(--c7); }
.swatch { display: inline-block; width: .9rem; height: .25rem; background: currentColor; vertical-align: .25rem; }
.failed { color: var(--c4); }
.figures { width: auto; } summary { margin-top: 1rem; cursor: pointer; }
@media (max-width: 40rem) { .wide { display: none; } td.b { width: 20%; min-width: 3rem; }
  th, td { padding-right: .4rem; overflow-wrap: anywhere; } td.n, th.n { white-space: normal; }
  .bars td.b { width: 22%; } .bars td.n { width: 9.2rem; }
  .devices, .devices tbody, .devices tr, .devices td { display: block; width: auto; text-align: left; }
  .devices th { display: none; } .devices td { border: 0; padding: 0; } .devices td:first-child { font-weight: 600; }
  .devices tr { padding: .3rem 0; border-bottom: 1px solid var(--line); }
  .cards td.b, .cards th.b { display: none; } .cards { font-size: .85rem; }
  .cards td:first-child { white-space: normal; } svg.plot { font-size: 15px; } }
)";

/// All devices of all machines in order. The index of a device selects its colour.
struct Entry {
  std::string label;
  const Machine* machine;
  const Device* device;
};

std::vector<Entry> entries_of(const std::vector<Machine>& machines) {
  std::vector<Entry> entries;
  for (const Machine& machine : machines)
    for (const Device& device : machine.devices)
      entries.push_back({label_of(machine, device, machines.size() > 1), &machine, &device});
  return entries;
}

std::string cell(const std::string& text, const char* css_class = "n") {
  return concat("<td class=\"", css_class, "\">", escaped(text), "</td>");
}

std::string with_unit(double value, const Figure& figure) {
  return number_text(value, figure.decimals) + ' ' + (std::string(figure.unit) == "us" ? "µs" : figure.unit);
}

std::string keys(const std::vector<Entry>& entries) {
  std::string html = "<ul class=\"keys\">";
  for (std::size_t i = 0; i < entries.size(); ++i)
    html += concat("<li><span class=\"swatch c", i % 8, "\"></span> ", escaped(entries[i].label), "</li>");
  return html + "</ul>\n";
}

std::string roofline_section(const std::vector<Entry>& entries) {
  std::vector<Roof> roofs;
  const Device* longest = nullptr;
  for (const Entry& entry : entries) {
    roofs.push_back({entry.label, entry.device});
    if (longest == nullptr || entry.device->workloads.size() > longest->workloads.size()) longest = entry.device;
  }
  const std::string plot = roofline(roofs);
  if (plot.empty()) return {};
  std::string html = concat("<h2>Roofline</h2>\n<figure>\n", plot, keys(entries), "<ul class=\"keys\">");
  for (std::size_t i = 0; i < longest->workloads.size(); ++i)
    html += concat("<li>", workload_sign(i), ' ', escaped(longest->workloads[i].title), "</li>");
  return html +
         "</ul>\n<figcaption>The lines are what a device can do at most: on the slope its memory is the bound, on the "
         "level part its arithmetic in fp32. Signs are the workloads as measured; above the line where fewer "
         "operations "
         "are done than counted (Winograd) or data stays in caches.</figcaption>\n</figure>\n";
}

/// Rows that bars() made belong into a table.
std::string section(const std::vector<Entry>& entries, const std::string& heading, const std::string& content) {
  return entries.size() == 1 ? concat(heading, "<table class=\"figures\">\n", content, "</table>\n")
                             : heading + content;
}

/// Draws bars of one quantity for all devices that have it. For one device the result is a row of a table.
template <class Value, class Text>
std::string bars(const std::string& title, const std::vector<Entry>& entries, const Value& value_of, const Text& text) {
  double most = 0;
  for (const Entry& entry : entries) most = std::max(most, value_of(*entry.device));
  if (most <= 0) return {};
  if (entries.size() == 1)  // A bar alone would always be full.
    return concat("<tr>", cell(title, ""), cell(text(*entries[0].device, most)), "</tr>\n");
  std::string html = concat("<h3>", escaped(title), "</h3>\n<table class=\"bars\">\n");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double value = value_of(*entries[i].device);
    if (value <= 0) continue;
    html += concat("<tr><td>", escaped(entries[i].label), "</td><td class=\"b\">",
                   bar(value / most, concat('c', i % 8)), "</td>", cell(text(*entries[i].device, value)), "</tr>\n");
  }
  return html + "</table>\n";
}

const Workload* find(const Device& device, const std::string& title) {
  for (const Workload& workload : device.workloads)
    if (workload.title == title && workload.median_ms > 0) return &workload;
  return nullptr;
}

std::string workload_section(const std::vector<Entry>& entries) {
  std::vector<std::string> titles;
  for (const Entry& entry : entries)
    for (const Workload& workload : entry.device->workloads)
      if (std::find(titles.begin(), titles.end(), workload.title) == titles.end()) titles.push_back(workload.title);
  std::string html;
  for (const std::string& title : titles)
    html += bars(
        title, entries,
        [&](const Device& device) {
          const Workload* workload = find(device, title);
          return workload == nullptr ? 0 : workload->per_second();
        },
        [&](const Device& device, double rate) {
          const Workload& workload = *find(device, title);
          const double estimate = device.estimate_ms(workload);
          const std::string share =
              estimate > 0 ? concat(" (", number_text(100 * estimate / workload.median_ms, 0), " %)") : "";
          return concat(number_text(rate, 0), ' ', workload.item, "/s", share);
        });
  return section(entries, "<h2>Workloads</h2>\n<p>Rate as measured; in brackets the share of the roofline's.</p>\n",
                 html);
}

std::string figure_section(const std::vector<Entry>& entries) {
  std::string html;
  for (const Figure& figure : figures())
    html += bars(
        concat(figure.group, ": ", figure.title), entries,
        [&](const Device& device) { return device.figure(figure.key); },
        [&](const Device&, double value) { return with_unit(value, figure); });
  return section(entries, "<h2>Figures</h2>\n", html);
}

std::string device_section(const std::vector<Entry>& entries) {
  std::string html =
      "<h2>Devices</h2>\n<div class=\"scroll\"><table "
      "class=\"devices\">\n<tr><th>device</th><th>implementation</th><th class=\"wide\">"
      "driver</th><th class=\"n\">memory</th><th>measured</th></tr>\n";
  for (const Entry& entry : entries) {
    const Device& device = *entry.device;
    html += concat(
        "<tr>", cell(device.name, ""), cell(device.platform, ""), cell(device.driver, "wide"),
        cell(number_text(static_cast<double>(device.memory) * 1e-9, 1) + " GB"),
        cell(entry.machine->date + ", crisol " + entry.machine->crisol + (entry.machine->quick ? ", quick" : ""), ""),
        "</tr>\n");
    for (const Failure& failure : device.failures)
      html += concat("<tr><td colspan=\"5\" class=\"failed\">failed: ", escaped(failure.part), ": ",
                     escaped(failure.error.substr(0, failure.error.find('\n'))), "</td></tr>\n");
    for (const Workload& workload : device.workloads)
      if (workload.median_ms == 0)
        html += concat("<tr><td colspan=\"5\">left out: ", escaped(workload.title), ": ", escaped(workload.left_out),
                       "</td></tr>\n");
  }
  return html + "</table></div>\n";
}

std::string known(double value, int decimals, const char* more = "") {
  return value > 0 ? number_text(value, decimals) + more : "–";
}

/// The rows for which `shown` is true.
std::string cards_table(const std::vector<Row>& rows, const std::vector<bool>& shown) {
  double most = 0;
  for (const Row& row : rows) most = std::max(most, row.gbps);
  std::string html =
      "<div class=\"scroll\"><table class=\"cards\">\n<tr><th></th>"
      "<th class=\"n wide\">year</th><th class=\"wide\">memory</th><th class=\"n wide\">GB</th><th class=\"b\"></th>"
      "<th class=\"n\">GB/s</th><th class=\"n\">fp32 TFLOP/s</th><th class=\"n\">fp16 TFLOP/s</th>"
      "<th class=\"wide\">source</th></tr>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (!shown[i]) continue;
    html += concat("<tr", row.measured ? "" : " class=\"spec\"", ">", cell(row.name, ""),
                   cell(row.year > 0 ? std::to_string(row.year) : "", "n wide"), cell(row.memory_type, "wide"),
                   cell(known(row.memory_gb, 0), "n wide"), "<td class=\"b\">",
                   bar(row.gbps / most, row.measured ? "c0" : "spec"), "</td>", cell(known(row.gbps, 0)),
                   cell(known(row.fp32, row.fp32 < 10 ? 2 : 1)),
                   cell(known(row.fp16, row.fp16 < 10 ? 2 : 1, row.matrix ? " m" : "")),
                   cell(row.measured ? "measured" : "specification: " + row.source, "wide"), "</tr>\n");
  }
  return html + "</table></div>\n";
}

std::string comparison_section(const std::vector<Machine>& machines) {
  const std::vector<Row> rows = comparison(machines);
  return concat(
      "<h2>Among public specifications</h2>\n<p>Grey rows were not measured: they are what the source of the row says "
      "of a card; a data sheet is the vendor's. m: in matrix units, without sparsity. Specified bandwidths are those "
      "of the memory chips; a copy reaches less.</p>\n",
      cards_table(rows, near_measured(rows)), "<details>\n<summary>All ", rows.size(), " rows</summary>\n",
      cards_table(rows, std::vector<bool>(rows.size(), true)), "</details>\n");
}

constexpr const char* method = R"(<h2>How it was taken</h2>
<p>Memory: the better of two forms of y = x and y = a + s x on arrays beyond the caches, bytes read and written counted.
Arithmetic: fused multiply-adds in registers, each two operations; fp16 only where the driver reports it. Transfers: 64 MiB
from ordinary memory and from memory that OpenCL gave, pinned where it can be. Launch: an empty kernel among many, and one
that is waited for. Compile: a small program that no cache knows until its first run, and the same from its binary.</p>
<p>Workloads are medians of <code>crisol bench</code>. Their operations are those of direct convolutions and products, a
training step three times as many. Their bytes are the least that must move: inputs and outputs of convolutions, poolings and
products and all parameters once, 4 bytes each; for a training step the activations three times and the parameters ten times
(two products, gradient, Adam); for the LSTM inputs, gates and outputs of each step and the weights once, three times for
training. Roofline: operations / fp32 peak or bytes / bandwidth, whichever is longer.</p>
)";

}  // namespace

std::string page_of(const std::vector<Machine>& machines) {
  const std::vector<Entry> entries = entries_of(machines);
  return concat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>crisol report</title>\n<style>",
      style, "</style>\n</head>\n<body>\n<h1>Devices, measured by crisol</h1>\n", device_section(entries),
      roofline_section(entries), workload_section(entries), figure_section(entries), comparison_section(machines),
      method, "</body>\n</html>\n");
}

}  // namespace crisol::cli::report
