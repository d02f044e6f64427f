// `crisol tune`
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/system.h"
#include "base/text.h"
#include "cli/bench/case.h"
#include "cli/bench/measure.h"
#include "cli/bench/suites.h"
#include "cli/command.h"
#include "cli/tune/report.h"
#include "cli/tune/share.h"

namespace crisol::cli {

namespace {

using namespace tune;
using bench::UsageError;
using nlohmann::ordered_json;

struct Options {
  std::vector<std::string> words;
  std::string shapes, suite, share;
  Effort effort;
  bool json = false, dry = false;
};

/// The result for one problem.
struct Outcome {
  std::optional<Measured> measured;
  std::string skipped;  ///< The reason why it was not measured; also empty if only one variant accepts the problem.
};

void add_problem(std::vector<Problem>& problems, Problem problem) {
  const auto known =
      std::find_if(problems.begin(), problems.end(), [&](const Problem& p) { return p.text == problem.text; });
  if (known == problems.end())
    problems.push_back(std::move(problem));
  else
    known->times += problem.times;
}

void read_shapes(const std::string& path, std::vector<Problem>& problems) {
  std::ifstream file(system::path_of(path), std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  if (!in) fail(ErrorCode::io, "tune", "cannot read ", path);
  for (std::string line; std::getline(in, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos && line.front() != '#')
      add_problem(problems, rerun::parse_problem(line));
}

// Adds the problems that one run of a case meets.
void run_case(const bench::Request& request, std::vector<Problem>& problems) {
  const bench::Work work = request.what->prepare(request.values);
  const ProblemLog log;
  work.run();
  for (const TuningProblem& found : log.problems()) {
    Problem problem = rerun::parse_problem(found.text);
    problem.times = found.times;
    add_problem(problems, std::move(problem));
  }
}

std::vector<Problem> problems_of(const Options& options) {
  const int given = !options.words.empty() + !options.shapes.empty() + !options.suite.empty();
  if (given != 1)
    throw UsageError(
        "say what to tune: CASE key=value …, --shapes FILE, or --suite NAME; --share FILE may stand alone");
  std::vector<Problem> problems;
  if (!options.shapes.empty()) read_shapes(options.shapes, problems);
  if (!options.words.empty()) run_case(bench::parse(options.words), problems);
  if (!options.suite.empty())
    for (const std::string& line : bench::suite(options.suite)) run_case(bench::parse_line(line), problems);
  return problems;
}

Outcome tune_problem(const Problem& problem, const Effort& effort) {
  try {
    const std::optional<Rerun> rerun = rerun::rerun_of(problem);
    if (!rerun) return {{}, "it cannot be made again alone"};
    TuningProblem met = meet(*rerun, problem);
    met.times = problem.times;
    if (accepting(met).size() < 2) return {};
    return {tune::measure(*rerun, met, effort), {}};
  } catch (const std::exception& error) {  // Too little memory, for example; the loop goes on.
    return {{}, error.what()};
  }
}

std::optional<std::string> stored_before(const std::vector<TuningEntry>& entries, const std::string& device,
                                         const TuningProblem& problem) {
  for (const TuningEntry& entry : entries)
    if (entry.device == device && entry.key == problem.key) return entry.variant;
  return std::nullopt;
}

std::int64_t nanoseconds(double ms) { return static_cast<std::int64_t>(1e6 * ms); }

// If the usual variant is the best, nothing is stored: a stored entry would hide a better default of a later version.
void store(const Measured& measured, const std::string& device) {
  const VariantTime &usual = measured.usual(), &best = measured.winner();
  if (measured.best == 0)
    remove_tuning(device, measured.problem.key);
  else
    store_tuning({device, measured.problem.text, measured.problem.key, best.variant, nanoseconds(best.median_ms),
                  usual.variant, nanoseconds(usual.median_ms)});
}

void require_measurable() {
  if (const char* forced = std::getenv("CRISOL_VARIANT"); forced != nullptr && *forced != '\0')
    throw UsageError(concat("CRISOL_VARIANT is ", forced, ": unset it, all variants are to be measured"));
}

/// Collects and prints the results.
class Report {
 public:
  Report(const Options& options, const std::string& device, std::size_t problems)
      : options_(options), file_(options.dry ? "" : tuning_file()) {
    if (options_.json) return;
    std::cout << device << '\n' << problems << " problems, in " << options_.effort.rounds << " rounds\n";
    print_heading(std::cout);
  }

  void add(const Problem& problem, const Outcome& outcome, const std::optional<std::string>& before) {
    if (!outcome.measured) {
      if (outcome.skipped.empty())
        ++alone_;
      else
        skip(problem.text, outcome.skipped);
      return;
    }
    const Measured& measured = *outcome.measured;
    total_.add(measured);
    better_ += measured.best != 0 ? 1 : 0;
    ++measured_;
    for (const VariantTime& variant : measured.variants) wrong_ = wrong_ || !variant.wrong.empty();
    if (options_.json)
      problems_.push_back(to_json(measured, before));
    else
      print_row(std::cout, measured, before);
  }

  /// Returns the exit status.
  int finish(const std::string& device) {
    if (options_.json) {
      const ordered_json json{{"device", device},         {"file", file_},       {"problems", problems_},
                              {"one_variant", alone_},    {"skipped", skipped_}, {"usual_ms", total_.usual_ms},
                              {"best_ms", total_.best_ms}};
      std::cout << json.dump(2) << '\n';
    } else {
      print_end();
    }
    return wrong_ ? 1 : 0;
  }

 private:
  void skip(const std::string& text, const std::string& reason) {
    skipped_.push_back({{"problem", text}, {"reason", reason}});
    if (!options_.json) std::cout << "not measured: " << text << ": " << reason << '\n';
  }

  void print_end() const {
    std::cout << better_ << " of " << measured_ << " problems have a better variant than the usual one";
    if (alone_ > 0) std::cout << "; " << alone_ << " more have one variant";
    std::cout << '\n';
    if (measured_ > 0)
      std::cout << "all of them, as often as they came: " << total_.usual_ms << " ms as usual, " << total_.best_ms
                << " ms by the best\n";
    std::cout << (options_.dry ? "nothing is stored: --dry-run" : "stored in " + file_) << '\n';
  }

  const Options& options_;
  std::string file_;
  ordered_json problems_ = ordered_json::array(), skipped_ = ordered_json::array();
  Total total_;
  int better_ = 0, measured_ = 0, alone_ = 0;
  bool wrong_ = false;
};

void share_stored(const Options& options) {
  const std::size_t count = share(Device(), options.share);
  if (!options.json)
    std::cout << "wrote " << count << " problems to " << options.share << ": please send it to the project\n";
}

int tune_problems(const Options& options) {
  require_measurable();
  const std::vector<Problem> problems = problems_of(options);
  const std::string device = tuning_device(Device().info());
  if (!options.dry && tuning_file().empty())
    throw UsageError(
        "there is no file to store in: CRISOL_TUNING is 0, or neither CRISOL_CACHE_DIR nor the system names a folder; "
        "--dry-run measures without one");
  const std::vector<TuningEntry> before = tuning_entries();
  Report report(options, device, problems.size());
  for (const Problem& problem : problems) {
    const Outcome outcome = tune_problem(problem, options.effort);
    if (outcome.measured && !options.dry) store(*outcome.measured, device);
    report.add(problem, outcome,
               outcome.measured ? stored_before(before, device, outcome.measured->problem) : std::nullopt);
    Device().release_cached_memory();
  }
  return report.finish(device);
}

int run_command(const Options& options) {
  const bool only_shares =
      !options.share.empty() && options.words.empty() && options.shapes.empty() && options.suite.empty();
  const int status = only_shares ? 0 : tune_problems(options);
  if (!options.share.empty()) share_stored(options);
  return status;
}

}  // namespace

Command add_tune(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "tune", "Measure the variants of ops at the shapes that you use, and store the best for this device");
  command->add_option("case", options->words, "CASE key=value ... as `crisol bench` takes it: all that one run does");
  command->add_option("--shapes", options->shapes,
                      "File that a program wrote by CRISOL_PROBLEM_LOG=FILE; - for standard input");
  command->add_option("--suite", options->suite, "The cases of a suite of `crisol bench`: " + bench::suite_names());
  command->add_flag("--json", options->json, "Print JSON: every variant's times");
  command->add_flag("--dry-run", options->dry, "Measure and print, store nothing");
  command->add_option("--repeat", options->effort.rounds, "Rounds, in each of which every variant is timed (9)")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--check", options->effort.check_all,
                    "Check the numbers of every variant, not only of those that could be stored");
  command->add_flag("--kept", options->effort.kept, "Weights stay as they are between runs, as in inference");
  command->add_option("--share", options->share,
                      "Write the facts of the device and all that is stored for it to this file, which can be sent to "
                      "the project; measures nothing if no problems are named");
  command->footer(
      "A variant is stored where its median is at least 3 % shorter than that of the usual one, it was faster in all "
      "rounds but one in eight, and its numbers are right. Programs that start later use it on this device, driver and "
      "version of crisol; CRISOL_TUNING=0 turns that off. "
      "CRISOL_TUNE=first lets programs do it themselves, at the first use of a shape. Exit status 1 also where a "
      "variant computed wrong numbers.");
  command->fallthrough();
  command->parse_complete_callback(bench::pin_threads);
  return {command, [options] {
            try {
              return run_command(*options);
            } catch (const UsageError& error) {
              std::cerr << "crisol tune: " << error.what() << '\n';
            } catch (const rerun::ProblemError& error) {
              std::cerr << "crisol tune: " << error.what() << '\n';
            }
            return 2;
          }};
}

}  // namespace crisol::cli
