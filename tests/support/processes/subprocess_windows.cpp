#include <windows.h>

#include <atomic>
#include <chrono>
#include <cwctype>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/system.h"
#include "support/processes/run_process.h"

namespace crisol::testing {

namespace {

constexpr int no_such_program = 127, killed = 128 + 9;  // The codes that a shell on POSIX systems uses.

struct CloseHandleOf {
  void operator()(HANDLE handle) const { CloseHandle(handle); }
};
using Handle = std::unique_ptr<void, CloseHandleOf>;

std::wstring wide(const std::string& text) { return system::path_of(text).wstring(); }

// Quotes an argument in the form that CommandLineToArgvW and C's startup code read.
std::wstring quoted(const std::wstring& argument) {
  std::wstring text = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t c : argument) {
    if (c == L'"') text.append(backslashes + 1, L'\\');
    backslashes = c == L'\\' ? backslashes + 1 : 0;
    text += c;
  }
  return text.append(backslashes, L'\\') + L'"';
}

std::wstring upper(std::wstring text) {
  for (wchar_t& c : text) c = static_cast<wchar_t>(std::towupper(c));
  return text;
}

// This process's variables with changes, in the form for CreateProcessW: "name=value", each ended by a zero, sorted.
std::wstring environment_block(const Environment& changes) {
  std::map<std::wstring, std::wstring> variables;  // The key is the name in capitals, because Windows ignores case.
  wchar_t* const own = GetEnvironmentStringsW();
  for (const wchar_t* at = own; *at != L'\0'; at += std::wstring_view(at).size() + 1) {
    const std::wstring entry = at;
    variables[upper(entry.substr(0, entry.find(L'=', 1)))] = entry;  // Some names begin with "=".
  }
  FreeEnvironmentStringsW(own);
  for (const auto& [name, value] : changes) {
    if (value.empty())
      variables.erase(upper(wide(name)));
    else
      variables[upper(wide(name))] = wide(name + '=' + value);
  }
  std::wstring block;
  for (const auto& [name, entry] : variables) block.append(entry).push_back(L'\0');
  block.push_back(L'\0');
  return block;
}

// One output of the child. A separate thread reads it until the child has ended.
class Stream {
 public:
  Stream(std::string& text, std::string& all, std::mutex& mutex) {
    HANDLE ours = nullptr, childs = nullptr;
    if (CreatePipe(&ours, &childs, nullptr, 0) == 0) throw std::runtime_error("no pipe");
    SetHandleInformation(childs, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    ours_.reset(ours);
    childs_.reset(childs);
    reader_ = std::thread([this, &text, &all, &mutex] {
      char buffer[4096];
      for (DWORD count = 0; ReadFile(ours_.get(), buffer, sizeof buffer, &count, nullptr) != 0;) {
        const std::lock_guard lock(mutex);
        for (const char c : std::string_view(buffer, count)) {
          if (c == '\r') continue;  // Lines end with "\r\n" here.
          text += c;
          all += c;
        }
      }
    });
  }
  HANDLE childs() const { return childs_.get(); }
  void close_childs() { childs_.reset(); }
  ~Stream() {
    close_childs();
    reader_.join();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

 private:
  Handle ours_, childs_;
  std::thread reader_;
};

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const Environment& environment,
                          const std::function<bool()>& kill_when, Output output) {
  if (output == Output::terminal) throw std::runtime_error("no terminal for tests on Windows");
  Environment changes{{"CRISOL_TEST_EXPECT_PLATFORM", ""}};
  changes.insert(changes.end(), environment.begin(), environment.end());
  std::wstring line;
  for (const std::string& part : command) line += (line.empty() ? L"" : L" ") + quoted(wide(part));

  ProcessResult result;
  std::mutex mutex;
  {
    Stream out(result.out, result.output, mutex), errors(result.errors, result.output, mutex);
    STARTUPINFOW startup{};
    startup.cb = sizeof startup;
    startup.dwFlags = STARTF_USESTDHANDLES;
    startup.hStdOutput = out.childs();
    startup.hStdError = errors.childs();
    PROCESS_INFORMATION started{};
    if (CreateProcessW(system::path_of(command[0]).c_str(), line.data(), nullptr, nullptr, TRUE,
                       CREATE_UNICODE_ENVIRONMENT, environment_block(changes).data(), nullptr, &startup,
                       &started) == 0) {
      result.status = no_such_program;
      return result;
    }
    const Handle process(started.hProcess), thread(started.hThread);
    out.close_childs();
    errors.close_childs();
    constexpr DWORD pause_ms = 2;
    while (WaitForSingleObject(process.get(), kill_when ? pause_ms : INFINITE) == WAIT_TIMEOUT)
      if (kill_when()) TerminateProcess(process.get(), killed);
    DWORD code = 0;
    GetExitCodeProcess(process.get(), &code);
    result.status = code < 256 ? static_cast<int>(code) : 255;  // Larger codes are exceptions, e.g. access violations.
  }
  return result;
}

void set_variable(const std::string& name, const std::string& value) {
  _putenv_s(name.c_str(), value.c_str());  // An empty value removes it.
}

bool drivers_see_variables() { return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") == nullptr; }

std::string own_program() {
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD size = GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
    if (size < path.size()) return system::text_of(path.substr(0, size));
    path.resize(2 * path.size());
  }
}

bool have_command(const std::string& name) {
  return SearchPathW(nullptr, wide(name).c_str(), L".exe", 0, nullptr, nullptr) != 0;
}

}  // namespace crisol::testing
