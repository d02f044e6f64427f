#include "runtime/program/program_cache.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>

#include "base/hash.h"
#include "base/system.h"
#include "base/text.h"
#include "runtime/device/device_state.h"
#include "runtime/op_scope.h"
#include "runtime/program/builtin_functions.h"
#include "runtime/program/driver_cache.h"
#include "runtime/program/kernel_calls.h"
#include "runtime/program/kernel_source.h"
#include "runtime/verbose.h"

namespace crisol::runtime {

namespace {

std::uint64_t hash_of_spec(const KernelSpec& spec) noexcept {
  Hash hash;
  hash.add(spec.source);
  hash.add(spec.entry);
  hash.add(spec.prelude);
  hash.add(spec.options);
  hash.add(std::uint64_t{spec.exact_division});
  for (const Define& define : spec.defines) {
    hash.add(define.name);
    hash.add(define.text);
    hash.add(static_cast<std::uint64_t>(define.number));
  }
  return hash.value();
}

/// Whether one of the library's kernels computes in double.
bool needs_double(const KernelSpec& spec) {
  const auto names_double = [](const Define& define) { return define.text == "double"; };
  return std::any_of(spec.defines.begin(), spec.defines.end(), names_double) ||
         (!spec.source.empty() && spec.prelude.find("double") != std::string_view::npos);
}

/// Whether a warning about one of the library's kernels is an error. The project's tests ask for it.
bool refuses_warnings(const KernelSpec& spec, const DeviceInfo& info) {
  static const bool asked = environment("CRISOL_KERNEL_WARNINGS") == "error";
  return asked && is_pocl(info) && !spec.source.empty();
}

// The warnings of clang that are errors. Headers leave names unused, and loops of some variants stay as they are.
constexpr const char* checked_warnings = R"(#pragma clang diagnostic error "-Wall"
#pragma clang diagnostic ignored "-Wunused"
#pragma clang diagnostic ignored "-Wpsabi"
#pragma clang diagnostic ignored "-Wpass-failed"
)";

std::string source_text(const KernelSpec& spec, const DeviceInfo& info) {
  std::string text = refuses_warnings(spec, info) ? checked_warnings : "";
  text += needs_double(spec) ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "";
  for (const Define& define : spec.defines)
    text += define.text.empty() ? concat("#define ", define.name, ' ', define.number, '\n')
                                : concat("#define ", define.name, ' ', define.text, '\n');
  text += expanded_source(spec.prelude, spec.source);
  return is_pocl(info) && info.type == DeviceType::cpu && !spec.source.empty() ? with_calls_of_kernels(text) : text;
}

std::string options_of(const KernelSpec& spec, const cl::Device& device, const DeviceInfo& info) {
  std::string options = "-cl-std=CL1.2";  // NVIDIA reports no more. Newer features are used through extensions.
  if (is_pocl(info)) options += " -DSTATIC_INLINE";  // For cl_kernels/common/inline.h.
  // On a CPU without AVX-512, clang warns that a long8 argument has another binary interface with AVX-512. PoCL prints
  // the number of warnings on standard error. A user's program keeps its warnings.
  if (is_pocl(info) && !spec.source.empty()) options += refuses_warnings(spec, info) ? " -Werror" : " -w";
  if (spec.exact_division && (device.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>() & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0)
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  return spec.options.empty() ? options : concat(options, ' ', spec.options);
}

// Identifies a program by its whole text. The text itself has some 25 KB, and a process may have hundreds of programs.
std::string digest_of(std::string_view text) {
  constexpr std::uint64_t other_seed = 0x70726f6772616dU;
  return concat(std::setbase(16), hash_of(text), '-', hash_of(text, other_seed));
}

std::string numbered(const std::string& source) {
  std::ostringstream out;
  std::istringstream lines(source);
  int number = 0;
  for (std::string line; std::getline(lines, line);) out << std::setw(5) << ++number << "  " << line << '\n';
  return out.str();
}

std::vector<unsigned char> binary_of(const cl::Program& program) {
  std::size_t size = 0;
  if (clGetProgramInfo(program(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS) return {};
  std::vector<unsigned char> binary(size);
  unsigned char* pointer = binary.data();
  if (size == 0 || clGetProgramInfo(program(), CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr) != CL_SUCCESS)
    return {};
  return binary;
}

void dump(const Program& program, const std::string& source, const DeviceInfo& info) {
  static const std::string folder = environment("CRISOL_DUMP_DIR");
  if (folder.empty()) return;
  const std::string stem = concat(folder, '/', program.name, '-', std::setbase(16), hash_of(program.key));
  std::error_code error;  // The name may contain folders.
  std::filesystem::create_directories(system::path_of(stem).parent_path(), error);
  const std::vector<unsigned char> binary = binary_of(program.handle);
  std::ofstream(system::path_of(stem + ".cl"), std::ios::binary) << source;
  std::ofstream(system::path_of(stem + ".options"), std::ios::binary)
      << program.options << "\n# " << info.platform << ", " << info.name << ", " << info.driver_version << '\n';
  std::ofstream(system::path_of(stem + ".bin"), std::ios::binary)
      .write(reinterpret_cast<const char*>(binary.data()), static_cast<std::streamsize>(binary.size()));
}

std::string title_of(const Program& program, const DeviceInfo& info) {
  return concat(program.name, " for ", info.name, " (", info.platform, ", driver ", info.driver_version, ')');
}

}  // namespace

BuiltKernel::BuiltKernel(const KernelSpec& own, std::shared_ptr<Program> built, cl::Kernel kernel)
    : handle(std::move(kernel)), name(own.entry), spec(own), program(std::move(built)) {}

ProgramCache::ProgramCache(DeviceState& device) : device_(device) {}

BuiltKernel& ProgramCache::resolve(const KernelSpec& spec) {
  const std::uint64_t hash = hash_of_spec(spec);
  const auto find = [&]() -> BuiltKernel* {
    const auto [first, last] = kernels_.equal_range(hash);
    for (auto at = first; at != last; ++at)
      if (at->second->spec.matches(spec)) return at->second.get();
    return nullptr;
  };
  {
    const std::lock_guard lock(mutex_);
    if (BuiltKernel* kernel = find()) return *kernel;
  }
  std::shared_ptr<Program> program = program_for(spec);
  cl::Kernel handle = make_kernel(*program, spec);
  auto kernel = std::make_unique<BuiltKernel>(spec, std::move(program), std::move(handle));
  const std::lock_guard lock(mutex_);
  if (BuiltKernel* first = find()) return *first;
  return *kernels_.emplace(hash, std::move(kernel))->second;
}

std::shared_ptr<Program> ProgramCache::program_for(const KernelSpec& spec) {
  const DeviceInfo& info = device_.info();
  if (needs_double(spec) && !info.fp64) {
    const std::string entry(spec.entry);
    fail(ErrorCode::invalid_argument, current_op() != nullptr ? current_op() : entry.c_str(),
         "computes in f64, and the device ", info.name,
         " has no double precision (cl_khr_fp64); convert the tensors with to(DType::f32)");
  }
  const std::string source = source_text(spec, info);
  const std::string key =
      digest_of(concat(info.platform, '\n', info.name, '\n', info.driver_version, '\n', info.device_version, '\n',
                       options_of(spec, device_.device(), info), '\n', source));
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  }
  // Compiles without the lock, because compiling takes at least a tenth of a second and other kernels must stay
  // available.
  auto program = std::make_shared<Program>();
  program->name = !spec.source.empty() ? spec.source : !spec.title.empty() ? spec.title : "generated";
  program->key = key;
  program->options = options_of(spec, device_.device(), info);
  build(*program, spec, source);
  const std::lock_guard lock(mutex_);
  program->number = programs_.size();
  const std::string_view own_key = program->key;
  return programs_.emplace(own_key, std::move(program)).first->second;
}

cl::Kernel ProgramCache::make_kernel(Program& program, const KernelSpec& spec) {
  const std::lock_guard lock(program.mutex);
  if (program.handle() == nullptr) build(program, spec, source_text(spec, device_.info()));
  cl_int error = CL_SUCCESS;
  cl::Kernel kernel(program.handle, std::string(spec.entry).c_str(), &error);
  if (error != CL_SUCCESS)
    fail(ErrorCode::build_failure, "build", "no kernel ", spec.entry, " in ", program.name, " on ", device_.info().name,
         ": ", cl_error_name(error));
  return kernel;
}

bool ProgramCache::build_from_binary(Program& program, const CachedProgram& cached) const {
  if (cached.binary.empty()) return false;
  const unsigned char* binary = cached.binary.data();
  const std::size_t size = cached.binary.size();
  cl_device_id device = device_.device()();
  cl_int status = CL_SUCCESS, error = CL_SUCCESS;
  cl::Program handle(clCreateProgramWithBinary(device_.context()(), 1, &device, &size, &binary, &status, &error));
  if (error == CL_SUCCESS) error = status;
  if (error == CL_SUCCESS) error = clBuildProgram(handle(), 1, &device, program.options.c_str(), nullptr, nullptr);
  if (error != CL_SUCCESS) {
    log(Topic::build, "the driver refuses the cached binary of ", program.name, " (", cl_error_name(error),
        "); compiling from source");
    return false;
  }
  program.handle = std::move(handle);
  return true;
}

// For each program PoCL reads the declarations of all OpenCL functions, which takes 0.1 s. With this macro, PoCL's
// headers leave them out. A program without a file of the library is a user's program. It may call functions that have
// no short declaration, and PoCL prints a line for each failed build. So user programs get all declarations. Later
// versions of PoCL may use another macro. So if a text does not build with short declarations, it is built with all
// declarations.
bool ProgramCache::build_with_short_declarations(Program& program, const KernelSpec& spec, const std::string& source) {
  if (!is_pocl(device_.info()) || full_declarations_ || spec.source.empty()) return false;
  cl_int error = CL_SUCCESS;
  cl::Program handle(device_.context(), builtin_declarations(source) + source, false, &error);
  cl_device_id device = device_.device()();
  const std::string options = program.options + " -D_OPENCL_H_";
  if (error == CL_SUCCESS) error = clBuildProgram(handle(), 1, &device, options.c_str(), nullptr, nullptr);
  if (error == CL_SUCCESS) program.handle = std::move(handle);
  return error == CL_SUCCESS;
}

void ProgramCache::build_from_source(Program& program, const KernelSpec& spec, const std::string& source) {
  if (build_with_short_declarations(program, spec, source)) return;
  cl_int error = CL_SUCCESS;
  cl::Program handle(device_.context(), source, false, &error);
  check_cl(error, "clCreateProgramWithSource");
  cl_device_id device = device_.device()();
  error = clBuildProgram(handle(), 1, &device, program.options.c_str(), nullptr, nullptr);
  if (error != CL_SUCCESS) {
    const std::string log = handle.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_.device());
    fail(ErrorCode::build_failure, "build", program.name, " does not build on ", device_.info().name, " (",
         device_.info().platform, "): ", cl_error_name(error), "\noptions: ", program.options, "\nlog:\n", log,
         "\nsource:\n", numbered(source));
  }
  program.handle = std::move(handle);
  // A text of the library builds only without the short declarations, so this driver cannot use them.
  if (is_pocl(device_.info()) && !full_declarations_ && !spec.source.empty()) {
    log(Topic::build, program.name, " needs all declarations, so later programs get them at once");
    full_declarations_ = true;
  }
}

void ProgramCache::build(Program& program, const KernelSpec& spec, const std::string& source) {
  const auto start = CompileProgress::Clock::now();
  TimelineSlice slice("compile", program.name);
  slice.note("kernel", spec.entry);
  device_.context();
  const DiskCache disk(DiskCache::default_folder());
  std::optional<CachedProgram> cached = disk.load(program.key);
  const char* from = "the disk cache";
  if (!cached || !build_from_binary(program, *cached)) {
    const bool kept =
        cached && cached->binary.empty() && driver_keeps_programs(device_.info()) && driver_kept_programs();
    build_from_source(program, spec, source);
    from = kept ? "the disk cache of the driver" : "source";
    if (!kept) {
      cached.reset();  // Somebody may have removed the released program's file.
      progress_.add_program(start, disk.folder());
    }
  }
  program.stored = cached.has_value();
  program.warmed = cached ? std::move(cached->warmed) : std::vector<std::string>();
  slice.note("from", from);
  if (program.stored)
    log(Topic::build, program.name, " from ", from, " in ", milliseconds_since(start), " ms");
  else
    log(Topic::build, "compiled ", program.name, " for ", device_.info().name, " in ", milliseconds_since(start),
        " ms");
  dump(program, source, device_.info());
}

void ProgramCache::store_unsaved() {
  if (!any_unsaved_.load(std::memory_order_relaxed)) return;
  const std::unique_lock storing(storing_mutex_, std::try_to_lock);
  if (!storing) return;
  any_unsaved_.store(false, std::memory_order_relaxed);
  std::vector<std::shared_ptr<Program>> unsaved;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, program] : programs_) {
      const std::lock_guard program_lock(program->mutex);
      if (program->unsaved) unsaved.push_back(program);
    }
  }
  const DiskCache disk(DiskCache::default_folder());
  const bool note = driver_keeps_programs(device_.info());
  for (const std::shared_ptr<Program>& program : unsaved) {
    const std::lock_guard lock(program->mutex);
    program->unsaved = false;
    const TimelineSlice slice("compile", "store program");
    const std::vector<unsigned char> binary = note ? std::vector<unsigned char>() : binary_of(program->handle);
    program->stored = (note || !binary.empty()) &&
                      disk.store(program->key, {title_of(*program, device_.info()), binary, program->warmed});
  }
  progress_.keep();
}

}  // namespace crisol::runtime
