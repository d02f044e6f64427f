#include "compare.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "crisol/error.h"
#include "data.h"
#include "train.h"

namespace mnist {

namespace {

struct Row {
  crisol::Device device;
  double images_per_second = 0, first_step_seconds = 0;
  float loss = 0;
  std::string error;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The first step compiles, two more warm up, and the others are timed.
void measure(Row& row, const crisol::io::ImageDataset& dataset, const CompareOptions& options,
             const samples::Ranks& ranks) {
  constexpr std::int64_t warm_up = 3;
  crisol::set_default_device(row.device);
  TrainOptions train_options;
  train_options.batch = options.batch;
  auto start = std::chrono::steady_clock::now();
  Trainer trainer(train_options, warm_up + options.steps, ranks);
  crisol::io::DataLoader loader(dataset, {options.batch, true, true, 0});
  loader.start();
  crisol::io::Batch batch;
  crisol::Tensor loss;
  for (std::int64_t step = 0; step < warm_up + options.steps && loader.next(batch); ++step) {
    loss = trainer.step(batch);
    if (step >= warm_up) continue;
    row.device.synchronize();
    if (step == 0) row.first_step_seconds = seconds_since(start);
    if (step == warm_up - 1) start = std::chrono::steady_clock::now();
  }
  row.device.synchronize();
  row.images_per_second = static_cast<double>(options.steps * options.batch) / seconds_since(start);
  row.loss = loss.item();
}

std::string name_of(const Row& row) { return row.device.name() + " / " + row.device.info().platform; }

void print(const std::vector<Row>& rows) {
  double slowest = 0;
  for (const Row& row : rows)
    if (row.error.empty() && row.device.info().type == crisol::DeviceType::cpu)
      slowest = slowest == 0 ? row.images_per_second : std::min(slowest, row.images_per_second);
  int width = 0;  // The width of the longest name: names are never cut.
  for (const Row& row : rows) width = std::max(width, static_cast<int>(name_of(row).size()));
  std::printf("%-*s %-12s %10s %9s %12s %8s\n", width, "device", "type", "images/s", "speed-up", "first step", "loss");
  for (const Row& row : rows) {
    const std::string name = name_of(row);
    if (!row.error.empty()) {
      std::printf("%-*s failed: %s\n", width, name.c_str(), row.error.c_str());
      continue;
    }
    char speed_up[32] = "-";
    if (slowest > 0) std::snprintf(speed_up, sizeof speed_up, "%.2fx", row.images_per_second / slowest);
    std::printf("%-*s %-12s %10.0f %9s %10.2f s %8.4f\n", width, name.c_str(), name_of(row.device.info().type),
                row.images_per_second, speed_up, row.first_step_seconds, static_cast<double>(row.loss));
  }
}

}  // namespace

int compare(const CompareOptions& options, const samples::Ranks& ranks) {
  std::vector<Row> rows;
  for (const crisol::Device device : crisol::devices())
    if (device.info().has_compiler) rows.push_back(Row{device, 0, 0, 0, {}});
  if (rows.empty()) static_cast<void>(crisol::Device());  // Throws an error that says how to get a device.
  const Digits digits = load_digits("", (options.steps + 3) * options.batch, 0);
  int status = 0;
  for (Row& row : rows) {
    std::printf("%s: %lld steps of %lld images ...\n", row.device.name().c_str(), static_cast<long long>(options.steps),
                static_cast<long long>(options.batch));
    std::fflush(stdout);
    try {
      measure(row, digits.train, options, ranks);
    } catch (const crisol::Error& error) {
      row.error = error.what();
      status = 1;
    }
  }
  std::printf("\n");
  print(rows);
  if (rows.size() == 1) std::printf("\nOnly one device is here: nothing to compare it with.\n");
  return status;
}

}  // namespace mnist
