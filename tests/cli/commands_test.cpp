// `crisol devices`, `info` and `cache`, as users and scripts run them.
#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "crisol/device.h"
#include "crisol/version.h"
#include "doctest/doctest.h"
#include "support/files.h"
#include "support/processes/commands.h"
#include "support/processes/program.h"
#include "support/skip.h"

using namespace crisol;
using namespace crisol::testing;

namespace {

std::string output_of(const std::string& line, const Environment& environment = {}) {
  const ProcessResult result = run_built("crisol", words_of(line), environment);
  INFO(line << ": " << result.output);
  CHECK(result.status == 0);
  return result.out;
}

}  // namespace

TEST_CASE("crisol: version, help and wrong words, with their exit status") {
  NEEDS_CRISOL();
  CHECK(output_of("--version") == std::string("crisol ") + version() + "\n");
  const std::string help = output_of("--help");
  for (const char* command : {"devices", "info", "doctor", "selftest", "cache", "bench", "tune", "kernels", "onnx",
                              "--device", "--trace", "Exit status"})
    CHECK(contains(help, command));
  for (const char* command :
       {"devices", "info", "doctor", "selftest", "cache", "cache list", "cache clear", "bench", "tune", "kernels",
        "onnx", "onnx info", "onnx run", "onnx bench", "onnx check", "onnx ops"})
    CHECK(contains(output_of(std::string(command) + " --help"), "--help"));
  for (const char* line : {"", "nonsense", "devices --nonsense", "info a b", "cache nonsense", "--device"}) {
    const ProcessResult result = run_built("crisol", words_of(line));
    INFO(line << ": " << result.output);
    CHECK(result.status == 2);
    CHECK_FALSE(result.output.empty());
  }
}

TEST_CASE("crisol: a mistyped word is named, with what was meant") {
  NEEDS_CRISOL();
  const auto refused = [](const char* line, std::initializer_list<const char*> parts, int status = 2) {
    const ProcessResult result = run_built("crisol", words_of(line));
    INFO(line << ": " << result.output);
    CHECK(result.status == status);
    CHECK(result.out.empty());
    for (const char* part : parts) CHECK_MESSAGE(contains(result.errors, part), part);
  };
  refused("device", {"crisol: there is no command 'device' here; did you mean 'devices'?"});
  refused("dveices --json", {"did you mean 'devices'?"});
  refused("--device cpu inof", {"'inof'", "did you mean 'info'?"});
  refused("cache claer", {"'claer'", "did you mean 'clear'?"});
  refused("devices --jsno", {"there is no option '--jsno' here; did you mean '--json'?"});
  refused("complicated", {"there is no command 'complicated' here\n"});
  refused("bench sofmax", {"there is no case 'sofmax'; did you mean 'softmax'?", "conv2d"});
  refused("bench --json", {"no case is given", "softmax"});
  refused("", {"Usage", "devices", "doctor"});
  CHECK(output_of("bench") == output_of("bench --list"));
  CHECK(contains(output_of("bench"), "softmax: "));
}

TEST_CASE("crisol --trace: a timeline of a command") {
  NEEDS_CRISOL();
  const TemporaryFolder folder;
  const auto events_of = [&](const std::string& file, const char* category) {
    const auto events = nlohmann::json::parse(read_file(folder.path() + '/' + file));
    return std::count_if(events.begin(), events.end(),
                         [&](const auto& event) { return event.value("cat", "") == category; });
  };
  output_of("bench softmax rows=5 cols=6 --seconds 0.01 --no-peak --trace " + folder.path() + "/bench.json");
  CHECK(events_of("bench.json", "kernel") > 0);
  CHECK(events_of("bench.json", "op") > 0);
  output_of("--trace " + folder.path() + "/cache.json cache list");
  CHECK(events_of("cache.json", "kernel") == 0);
  const ProcessResult refused = run_built("crisol", {"devices", "--trace", folder.path() + "/no/trace.json"});
  CHECK(refused.status == 1);
  CHECK(contains(refused.errors, "crisol: [trace] cannot write "));
}

TEST_CASE("crisol: what cannot be written is an error") {
  NEEDS_CRISOL();
  NEEDS_POSIX("a shell");
  if (!std::ofstream("/dev/full")) CRISOL_SKIP("this system has no /dev/full");
  for (const char* line : {"devices", "devices --json", "info", "cache", "complete"}) {
    CAPTURE(std::string(line));
    const ProcessResult result =
        run_program("/usr/bin/env", {"sh", "-c", built_program("crisol") + " " + line + " >/dev/full"});
    CHECK(result.status == 1);
    CHECK(contains(result.errors, "crisol: standard output cannot be written\n"));
    CHECK(result.out.empty());
  }
}

TEST_CASE("crisol: with --json standard output holds the JSON alone, whatever is said beside it" *
          doctest::test_suite("long")) {
  NEEDS_CRISOL();
  const TemporaryFolder folder;
  const std::string machines = folder.path() + "/machines.json";
  write_file(machines, R"({"format": "crisol report", "version": 1, "machines": []})");
  // Arguments that commands need. A command that is not in this map needs none.
  const std::map<std::string, std::string> arguments{{"bench", " eltwise chain=add elements=10 --repeat 1 --no-peak"},
                                                     {"report", " --merge " + machines},
                                                     {"selftest", " --only relu"},
                                                     {"tune", " eltwise chain=add elements=10 --repeat 1 --dry-run"}};
  int commands = 0;
  std::istringstream words(output_of("complete"));
  for (std::string command; words >> command && command.front() != '-';) {
    if (!contains(output_of("complete -- " + command), "--json\n")) continue;
    const auto more = arguments.find(command);
    const std::string line = command + " --json" + (more == arguments.end() ? "" : more->second);
    const ProcessResult result = run_built("crisol", words_of(line), {{"CRISOL_VERBOSE", "all"}});
    INFO(line << ": " << result.output);
    CHECK(nlohmann::json::accept(result.out));
    if (more != arguments.end() && command != "report") CHECK(contains(result.errors, "crisol: using "));
    ++commands;
  }
  CHECK(commands >= 8);
}

TEST_CASE("crisol: bold on a terminal alone, and not where NO_COLOR is set") {
  NEEDS_CRISOL();
  NEEDS_POSIX("a terminal");
  const auto shown = [](const std::vector<std::string>& words, const char* no_color) {
    return run_built_on_terminal("crisol", words, {{"NO_COLOR", no_color}}).output;
  };
  for (const char* command : {"devices", "info"}) {
    CAPTURE(std::string(command));
    CHECK(contains(shown({command}, ""), "\033[1m" + Device().name() + "\033[0m"));
    for (const std::string& plain : {shown({command}, "1"), shown({command, "--json"}, "")}) {
      CHECK(contains(plain, Device().name()));
      CHECK_FALSE(contains(plain, "\033"));
    }
  }
}

TEST_CASE("crisol devices: a list for people and one for programs") {
  NEEDS_CRISOL();
  const std::string text = output_of("devices");
  CHECK(contains(text, "* " + Device().name() + "\n"));  // No colours, because the output is no terminal.
  CHECK(contains(text, "is the default: CRISOL_DEVICE="));
  const auto json = nlohmann::json::parse(output_of("devices --json"));
  CHECK(json.at("devices").at(json.at("default").get<std::size_t>()).at("name") == Device().name());
  const ProcessResult none = run_built("crisol", {"devices"}, {{"CRISOL_DEVICE", "no such device"}});
  CHECK(none.status == 1);
  CHECK(contains(none.output, "no such device"));
}

TEST_CASE("crisol info: what read_device_info reads back") {
  NEEDS_CRISOL();
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/device.json";
  const std::string json = output_of("info --json");
  write_file(file, json);
  // Not compared with this process's values: PoCL's memory size is the memory that is free at the moment.
  CHECK(to_json(read_device_info(file)) + '\n' == json);
  CHECK(read_device_info(file).name == Device().name());
  const std::string text = output_of("info");
  CHECK(contains(text, "compute_units"));
  CHECK(contains(text, Device().info().driver_version));
  CHECK_FALSE(contains(text, "\033"));
  const ProcessResult none = run_built("crisol", {"info", "no such device"});
  CHECK(none.status == 1);
  CHECK(contains(none.output, "no such device"));
}

TEST_CASE("crisol cache: sums up by device, lists what a program compiled, and removes that alone") {
  NEEDS_CRISOL();
  const TemporaryFolder folder;
  const Environment cache{{"CRISOL_CACHE_DIR", folder.path()}};
  CHECK(contains(output_of("cache", cache), "0 programs, 0 bytes in " + folder.path()));
  output_of("bench eltwise chain=add elements=10 --repeat 1 --no-peak", cache);
  write_file(folder.path() + "/notes.txt", "mine");
  write_file(folder.path() + "/0123456789abcdef.bin", "damaged");
  const std::string text = output_of("cache list", cache),
                    file = crisol::system::text_of(crisol::system::path_of(folder.path()) / "0123456789abcdef.bin");
  CHECK(contains(text, " for " + Device().name() + " (" + Device().info().platform));
  CHECK(contains(text, "damaged, never used: " + file + ": 7 bytes"));
  CHECK(output_of("cache --list", cache) == text);
  const std::string summary = output_of("cache", cache);
  CHECK(contains(summary, "1 programs    7 bytes  damaged, never used\n"));
  CHECK(contains(summary, "  " + Device().name() + " (" + Device().info().platform));
  CHECK(contains(summary, "`crisol cache --list` lists the programs."));
  CHECK_FALSE(contains(summary, file));
  const auto json = nlohmann::json::parse(output_of("cache list --json", cache));
  CHECK(nlohmann::json::parse(output_of("cache --json", cache)) == json);
  CHECK(json.at("folder") == folder.path());
  CHECK(json.at("programs").size() >= 2);
  REQUIRE(json.at("devices").size() == 2);
  CHECK(json.at("devices").at(0).at("programs").get<std::size_t>() + 1 == json.at("programs").size());
  CHECK(json.at("devices").at(1) == nlohmann::json{{"device", "damaged, never used"}, {"programs", 1}, {"bytes", 7}});
  CHECK(contains(output_of("cache clear", cache),
                 "removed " + std::to_string(json.at("programs").size()) + " files from " + folder.path()));
  CHECK(contains(output_of("cache", cache), "0 programs, 0 bytes"));
  CHECK(nlohmann::json::parse(output_of("cache clear --json", cache)) ==
        nlohmann::json{{"folder", folder.path()}, {"removed", 0}});
  CHECK(read_file(folder.path() + "/notes.txt") == "mine");
}

TEST_CASE("crisol complete: the words of each place, all of them in the manual page") {
  NEEDS_CRISOL();
  const std::string manual = read_file(CRISOL_SOURCE_DIR "/docs/crisol.1");
  for (const char* place :
       {"", "devices", "info", "doctor", "cache", "cache list", "cache clear", "bench", "tune", "kernels", "report"}) {
    std::istringstream words(output_of(std::string("complete -- ") + place));
    int count = 0;
    for (std::string word; std::getline(words, word); ++count) {
      CAPTURE(place);
      CAPTURE(word);
      std::string written;
      for (const char c : word) written.append(c == '-' ? "\\-" : std::string(1, c));
      const bool of_cases = place == std::string("bench") || place == std::string("tune");
      if (!of_cases || word[0] == '-') CHECK(contains(manual, written));
    }
    CHECK(count > 0);
  }
  CHECK(output_of("complete -- bench softmax").rfind("rows=\ncols=\n", 0) == 0);
  CHECK_FALSE(contains(output_of("complete"), "complete"));
}

TEST_CASE("crisol's manual page names no option, command or variable that does not exist") {
  NEEDS_CRISOL();
  const std::string source = read_file(CRISOL_SOURCE_DIR "/docs/crisol.1");
  std::string manual;
  for (const char c : source)
    if (c != '\\') manual += c;
  std::set<std::string> offered{"--help", "--version"};
  const auto gather = [&](const std::string& place) {
    std::istringstream words(output_of("complete -- " + place));
    std::vector<std::string> commands;
    for (std::string word; std::getline(words, word);) {
      offered.insert(word);
      if (word[0] != '-' && word.find('=') == std::string::npos) commands.push_back(word);
    }
    return commands;
  };
  for (const std::string& command : gather("")) {
    gather(command);
    // Commands in bold begin an entry: .BR devices " [" --json ]
    CHECK_MESSAGE(contains(manual, ".BR " + command + " "), command << " has no entry");
  }
  for (const char* command : {"cache clear", "onnx info", "onnx run", "onnx bench", "onnx check", "onnx ops"})
    gather(command);
  static const std::regex option("--[a-z][a-z-]*"), entry(R"(\n\.BR "?([a-z]+) ?([a-z]+)?"? " )"),
      variable("CRISOL_[A-Z_]+");
  for (std::sregex_iterator at(manual.begin(), manual.end(), option), end; at != end; ++at)
    CHECK_MESSAGE(offered.count(at->str()) == 1, at->str() << " is in the manual page alone");
  int entries = 0;
  for (std::sregex_iterator at(manual.begin(), manual.end(), entry), end; at != end; ++at, ++entries)
    CHECK_MESSAGE(offered.count((*at)[1]) == 1, (*at)[1].str() << " is in the manual page alone");
  CHECK(entries >= 10);
  const std::string variables = read_file(CRISOL_SOURCE_DIR "/docs/environment.md");
  for (std::sregex_iterator at(manual.begin(), manual.end(), variable), end; at != end; ++at)
    CHECK_MESSAGE(contains(variables, "`" + at->str() + "`"), at->str() << " is no variable of the library");
}

TEST_CASE("crisol's completion for bash offers what fits the word that was begun") {
  NEEDS_CRISOL();
  NEEDS_COMMANDS("bash");
  const auto completed = [](const std::string& words, const std::string& begun) {
    const std::string script = "source " CRISOL_SOURCE_DIR "/tools/cli/completions/crisol.bash; COMP_WORDS=(" +
                               built_program("crisol") + " " + words + " '" + begun +
                               "'); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _crisol \"${COMP_WORDS[0]}\" '" + begun +
                               "'; echo ${COMPREPLY[@]}";
    return run_program("/usr/bin/env", {"bash", "-c", script}).out;
  };
  CHECK(completed("", "dev") == "devices\n");
  CHECK(completed("", "--v") == "--version\n");
  CHECK(completed("cache", "") == "list clear --help --list --json\n");
  CHECK(completed("bench", "sof") == "softmax\n");
  CHECK(completed("bench softmax", "ro") == "rows=\n");
  CHECK(completed("bench softmax rows=5", "--no") == "--no-peak\n");
}
