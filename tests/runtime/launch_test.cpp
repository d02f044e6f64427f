#include "runtime/launch.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "crisol/error.h"
#include "crisol/profile.h"
#include "doctest/doctest.h"
#include "runtime/program/kernel_source.h"
#include "support/processes/subprocess.h"
#include "support/skip.h"
#include "support/small_disk.h"
#include "tensor/kernel_args.h"

namespace fs = std::filesystem;
using namespace crisol;
using runtime::KernelSpec;

namespace {

constexpr const char* scale_source = R"(
__kernel void scale_by(__global const float* x, ulong x_offset, __global float* y, ulong y_offset, float factor, long n) {
  long i = get_global_id(0);
  if (i < n) y[y_offset + i] = factor * GAIN * x[x_offset + i];
}
__kernel void outer_index(__global long* y, ulong y_offset, long8 shape) {
  if (get_global_id(0) == 0) { y[y_offset] = shape.s0; y[y_offset + 1] = shape.s1; y[y_offset + 2] = shape.s2; }
}
)";

KernelSpec scale_spec(int gain, std::string_view entry = "scale_by") {
  return {"", entry, {{"GAIN", gain}}, scale_source};
}

void run_scale(const Tensor& x, const Tensor& y, float factor, int gain) {
  runtime::launch(state_of(x), scale_spec(gain), runtime::flat_range(state_of(x), x.numel()), in(x), out(y), factor,
                  x.numel());
}

std::vector<float> counted(int n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i);
  return values;
}

}  // namespace

TEST_CASE("a launch reads views, scalars and shapes as they were given") {
  const Tensor x = from_vector(counted(131), {131});
  const Tensor y = zeros({131});
  run_scale(x, y, 0.5f, 4);
  const std::vector<float> doubled = y.to_vector<float>();
  for (std::size_t i = 0; i < doubled.size(); ++i) CHECK(doubled[i] == 2.0f * static_cast<float>(i));
  // A view starts at its offset, and nothing before it changes.
  const Tensor tail = make_view(y, {3}, {1}, 128);
  run_scale(make_view(x, {3}, {1}, 1), tail, 1.0f, 1);
  CHECK(y.to_vector<float>()[127] == 254.0f);
  CHECK(tail.to_vector<float>() == std::vector<float>{1, 2, 3});
  const Tensor shape = zeros({3}, DType::i64);
  runtime::launch(state_of(x), scale_spec(4, "outer_index"), {{1}, {1}}, out(shape), Shape{7, -1, 5000000000});
  CHECK(shape.to_vector<std::int64_t>() == std::vector<std::int64_t>{7, -1, 5000000000});
}

TEST_CASE("an empty range does nothing") {
  const Tensor x = empty({0}), y = full({1}, 3);
  run_scale(x, y, 1.0f, 1);
  CHECK(y.item() == 3.0f);
}

TEST_CASE("equal specs give one kernel, other defines another, other arguments the same") {
  runtime::DeviceState& device = Device().state();
  CHECK(&runtime::resolve(device, scale_spec(1)) == &runtime::resolve(device, scale_spec(1)));
  CHECK(&runtime::resolve(device, scale_spec(1)) != &runtime::resolve(device, scale_spec(2)));
  CHECK(&runtime::resolve(device, scale_spec(1)) != &runtime::resolve(device, scale_spec(1, "outer_index")));
}

TEST_CASE("threads that ask for a new kernel at once get the same one, and their launches do not mix") {
  if (testing::slow_device()) CRISOL_SKIP("oclgrind 21.10 runs one kernel at a time, whatever the thread");
  constexpr int thread_count = 4, rounds = 20, n = 37;
  std::vector<runtime::BuiltKernel*> kernels(thread_count);
  std::vector<int> wrong(thread_count);
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      const auto at = static_cast<std::size_t>(t);
      const Tensor x = from_vector(counted(n), {n});
      kernels[at] = &runtime::resolve(state_of(x), scale_spec(77));
      for (int round = 0; round < rounds; ++round) {
        const Tensor y = empty({n});
        run_scale(x, y, static_cast<float>(t + 1), 77);
        const std::vector<float> result = y.to_vector<float>();
        for (std::size_t i = 0; i < result.size(); ++i)
          wrong[at] += result[i] != 77.0f * static_cast<float>(t + 1) * static_cast<float>(i);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < thread_count; ++t) {
    CHECK(kernels[static_cast<std::size_t>(t)] == kernels[0]);
    CHECK(wrong[static_cast<std::size_t>(t)] == 0);
  }
}

TEST_CASE("a build failure names device, options and log, and numbers the source") {
  const KernelSpec broken{
      "", "broken", {{"VALUE", 3}}, "__kernel void broken(__global int* x) { x[0] = no_such_name; }\n"};
  try {
    runtime::resolve(Device().state(), broken);
    FAIL("it built");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(error.code() == ErrorCode::build_failure);
    for (const std::string& part : {Device().name(), std::string("-cl-std=CL1.2"),
                                    std::string("    1  #define VALUE 3"), std::string("no_such_name; }")})
      CHECK(text.find(part) != std::string::npos);
  }
  CHECK_THROWS_WITH_AS(runtime::resolve(Device().state(), scale_spec(1, "missing")),
                       doctest::Contains("no kernel missing"), Error);
  CHECK_THROWS_WITH_AS(runtime::resolve(Device().state(), {"missing.cl", "x"}),
                       doctest::Contains("no kernel file missing.cl"), Error);
}

TEST_CASE("arguments that do not fit the kernel are an error that names kernel and argument") {
  const Tensor x = zeros({1});
  CHECK_THROWS_WITH_AS(runtime::launch(state_of(x), scale_spec(1), {{1}, {1}}, in(x), 1.0f, 2.0f, 3.0f),
                       doctest::Contains("scale_by"), Error);
  // The kernel still works.
  run_scale(x, x, 1.0f, 1);
  CHECK(x.item() == 0.0f);
}

TEST_CASE("a profile counts the launches in its scope by kernel") {
  const Tensor x = zeros({64}), y = zeros({64});
  run_scale(x, y, 1.0f, 1);
  const Profile profile;
  for (int i = 0; i < 3; ++i) run_scale(x, y, 1.0f, 1);
  const std::vector<ProfileRow> rows = profile.rows();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kernel == "scale_by");
  CHECK(rows[0].launches == 3);
  CHECK(rows[0].min_ms <= rows[0].max_ms);
  CHECK(rows[0].total_ms >= rows[0].max_ms);
}

// --- In new processes: the effects of variables and of the disk
// --------------------------------------------------------------

TEST_CASE("child: scale once" * doctest::skip()) {
  const Tensor x = from_vector(counted(5), {5});
  const Tensor y = zeros({5});
  run_scale(x, y, 1.0f, 2);
  const bool right = y.to_vector<float>() == std::vector<float>{0, 2, 4, 6, 8};
  MESSAGE((right ? "scaled right" : "scaled WRONG"));
}

TEST_CASE("child: clone once" * doctest::skip()) {
  // Runs a kernel of the library, read from its file.
  try {
    const Tensor x = from_vector(counted(6), {2, 3});
    MESSAGE("copied " << x.transpose(0, 1).clone().to_vector<float>()[1]);
  } catch (const Error& error) {
    MESSAGE("refused: " << std::string(error.what()));
  }
}

namespace {

std::string run(const char* child, testing::Environment environment) {
  environment.emplace_back("CRISOL_DEVICE", Device().info().platform);
  environment.emplace_back("CRISOL_VERBOSE", "build");
  const testing::ProcessResult result = testing::run_child(child, environment);
  CHECK(result.status == 0);
  return result.output;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("programs come from the disk cache in the next process, and damage is survived") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const testing::TemporaryFolder folder;
  const testing::Environment environment{{"CRISOL_CACHE_DIR", folder.path()}};
  std::string output = run("child: scale once", environment);
  CHECK(contains(output, "compiled generated"));
  CHECK(contains(output, "scaled right"));
  const bool stored = !fs::is_empty(folder.path());
  if (!stored) CRISOL_SKIP("this implementation gives no program binaries");
  output = run("child: scale once", environment);
  CHECK(contains(output, "generated from the disk cache"));
  CHECK(contains(output, "scaled right"));
  // The file exists, but its content is damaged: half of it is missing.
  for (const auto& entry : fs::directory_iterator(folder.path()))
    fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
  output = run("child: scale once", environment);
  CHECK(contains(output, "compiled generated"));
  CHECK(contains(output, "scaled right"));
  output = run("child: scale once", environment);
  CHECK(contains(output, "generated from the disk cache"));
}

TEST_CASE("a cache folder that cannot be written changes no result") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  const std::string output = run("child: scale once", {{"CRISOL_CACHE_DIR", folder.path() + "/file"}});
  CHECK(contains(output, "cache: cannot store"));
  CHECK(contains(output, "scaled right"));
}

TEST_CASE("a cache folder on a full or on a read-only disk changes no result") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const testing::SmallDisk full(64), stored(4096);
  if (!full.mounted()) CRISOL_SKIP(testing::no_small_disk);
  full.fill();
  std::string output = run("child: scale once", {{"CRISOL_CACHE_DIR", full.path()}});
  CHECK(contains(output, "scaled right"));
  CHECK(contains(output, "full or not writable"));
  CHECK(files_in(full.path()) == std::set<std::string>{"filler"});  // No partial program.

  run("child: scale once", {{"CRISOL_CACHE_DIR", stored.path()}});
  const std::set<std::string> programs = files_in(stored.path());
  stored.make_read_only();
  output = run("child: scale once", {{"CRISOL_CACHE_DIR", stored.path()}});
  CHECK(contains(output, "scaled right"));
  if (!programs.empty()) CHECK(contains(output, "generated from the disk cache"));
  output = run("child: clone once", {{"CRISOL_CACHE_DIR", stored.path()}});
  CHECK(contains(output, "copied 3"));
  CHECK(files_in(stored.path()) == programs);
}

TEST_CASE("processes that start at once on one empty cache folder all work, and leave whole programs") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const testing::TemporaryFolder folder;
  std::vector<std::string> outputs(3);
  std::vector<std::thread> threads;
  for (std::string& output : outputs)
    threads.emplace_back([&] {
      output = testing::run_child("child: scale once",
                                  {{"CRISOL_CACHE_DIR", folder.path()}, {"CRISOL_DEVICE", Device().info().platform}})
                   .output;
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& output : outputs) CHECK_MESSAGE(contains(output, "scaled right"), output);
  for (const std::string& name : files_in(folder.path())) CHECK(fs::path(name).extension() == ".bin");
  const std::string output = run("child: scale once", {{"CRISOL_CACHE_DIR", folder.path()}});
  CHECK(contains(output, "scaled right"));
  if (!fs::is_empty(folder.path())) CHECK(contains(output, "generated from the disk cache"));
}

TEST_CASE("a process killed while it works leaves a usable cache") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const testing::TemporaryFolder folder;
  const testing::Environment environment{{"CRISOL_CACHE_DIR", folder.path()},
                                         {"CRISOL_DEVICE", Device().info().platform}};
  for (const int after_ms : {5, 60, 120, 200}) testing::run_child_and_kill("child: scale once", environment, after_ms);
  CHECK(contains(run("child: scale once", {{"CRISOL_CACHE_DIR", folder.path()}}), "scaled right"));
}

TEST_CASE("CRISOL_KERNEL_PATH replaces the kernels in the library") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const testing::TemporaryFolder folder;
  const testing::Environment environment{{"CRISOL_KERNEL_PATH", folder.path()}};
  CHECK(contains(run("child: clone once", environment), "CRISOL_KERNEL_PATH is set, but"));
  const auto write_kernels = [&](const char* before) {
    for (const auto& [name, text] : runtime::embedded_kernels()) {
      const fs::path path = fs::path(folder.path()) / name;
      fs::create_directories(path.parent_path());
      std::ofstream(path) << before << text;
    }
  };
  write_kernels("");
  CHECK(contains(run("child: clone once", environment), "copied 3"));
  write_kernels("#error this is the changed kernel\n");
  CHECK(contains(run("child: clone once", environment), "this is the changed kernel"));
  // A warning is an error where the tests ask for it.
  if (Device().info().platform != "Portable Computing Language") return;
  write_kernels("#ifndef UNSET\n#define UNSET\nstatic int unset(void) { int x; return x; }\n#endif\n");
  testing::Environment strict = environment;
  strict.emplace_back("CRISOL_KERNEL_WARNINGS", "");
  CHECK(contains(run("child: clone once", strict), "copied 3"));
  strict.back().second = "error";
  CHECK(contains(run("child: clone once", strict), "uninitialized"));
}

TEST_CASE("CRISOL_DUMP_DIR receives source, options and binary of each program") {
  if (testing::slow_device()) CRISOL_SKIP("starts processes outside the simulator");
  const testing::TemporaryFolder folder;
  const auto dumped = [&](const char* child, const fs::path& subfolder, const char* part) {
    run(child, {{"CRISOL_DUMP_DIR", folder.path()}});
    std::map<std::string, int> count;
    for (const auto& entry : fs::directory_iterator(folder.path() / subfolder)) {
      ++count[entry.path().extension().string()];
      if (entry.path().extension() != ".cl") continue;
      std::ifstream file(entry.path());
      CHECK(contains(std::string{std::istreambuf_iterator<char>(file), {}}, part));
    }
    CHECK(count[".cl"] == 1);
    CHECK(count[".options"] == 1);
    CHECK(count[".bin"] == 1);
  };
  dumped("child: scale once", "", "#define GAIN 2");
  dumped("child: clone once", "pointwise", "__kernel");  // A kernel of the library, whose name has a folder.
}
