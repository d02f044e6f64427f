// Shared by peers written in C++: the timing rules of `crisol bench` (tools/cli/bench/measure.h), and the service for
// compare.py. It reads lines "case key=value …" with every key from standard input and answers each with a line of
// JSON.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace peer {

/// The peer does not offer this case.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Keys {
  std::map<std::string, std::string> texts;
  const std::string& text(const std::string& key) const { return texts.at(key); }
  long number(const std::string& key) const { return std::stol(text(key)); }
  bool is(const std::string& key, const std::string& value) const { return text(key) == value; }
};

/// Something to time: `run` starts it, `wait` returns when all of it is done.
struct Work {
  std::function<void()> run, wait;
};

inline double seconds_of(const Work& work, int runs) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i) work.run();
  work.wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / runs;
}

struct Timing {
  double median_ms, min_ms;
  int samples, runs;
};

inline Timing measure(const Work& work, double seconds, bool wait) {
  constexpr double sample_s = 0.005, warm_up_s = 0.1;
  constexpr std::size_t fewest = 5, most = 10000;
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  seconds_of(work, 1);
  auto start = Clock::now();
  double once = seconds_of(work, 1);
  while (since(start) < warm_up_s) once = seconds_of(work, std::max(1, static_cast<int>(sample_s / once)));
  const int runs = wait ? 1 : std::max(1, static_cast<int>(sample_s / once + 0.999));
  std::vector<double> samples;
  start = Clock::now();
  while (samples.size() < fewest || (since(start) < seconds && samples.size() < most))
    samples.push_back(1e3 * seconds_of(work, runs));
  std::sort(samples.begin(), samples.end());
  const std::size_t half = samples.size() / 2;
  const double median = samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
  return {median, samples.front(), static_cast<int>(samples.size()), runs};
}

inline std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

/// Answers lines until standard input ends. `prepare` returns the work of a case, and `about` names the peer.
template <class Prepare>
void serve(double seconds, const std::string& about, const Prepare& prepare) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name, word;
    words >> name;
    Keys keys;
    while (words >> word) keys.texts[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    try {
      const Work work = prepare(name, keys);
      const Timing t = measure(work, seconds, keys.is("wait", "1"));
      std::printf("{\"median_ms\": %.6f, \"min_ms\": %.6f, \"samples\": %d, \"runs_per_sample\": %d, \"peer\": %s}\n",
                  t.median_ms, t.min_ms, t.samples, t.runs, quoted(about).c_str());
    } catch (const Unsupported& error) {
      std::printf("{\"unsupported\": %s}\n", quoted(error.what()).c_str());
    } catch (const std::exception& error) {
      std::printf("{\"error\": %s}\n", quoted(error.what()).c_str());
    }
    std::fflush(stdout);
  }
}

}  // namespace peer
