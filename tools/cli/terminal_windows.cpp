#include <windows.h>

#include <cstdlib>

#include "cli/terminal.h"

namespace crisol::cli {

namespace {

UINT code_page_before = 0;

}  // namespace

// The code page belongs to the console and outlives this program, so it must be restored at exit.
void prepare_terminal() {
  code_page_before = GetConsoleOutputCP();
  if (code_page_before == 0 || code_page_before == CP_UTF8 || SetConsoleOutputCP(CP_UTF8) == 0) return;
  std::atexit([] { SetConsoleOutputCP(code_page_before); });
}

bool is_styled() {
  static const bool is_capable = [] {
    const HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD mode = 0;
    return GetConsoleMode(console, &mode) != 0 &&
           SetConsoleMode(console, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
  }();
  const char* no_color = std::getenv("NO_COLOR");
  return is_capable && (no_color == nullptr || *no_color == '\0');
}

}  // namespace crisol::cli
