// A value for each thread, which lives until the thread's end.
#include "base/per_thread.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "doctest/doctest.h"

using namespace crisol;

namespace {

const std::string whole = "a text that is too long to be kept inside the string object";

std::atomic<int> made{0}, deleted_whole{0}, used_at_end{0};

struct Used {
  std::string text = whole;
};

struct Value {
  Value() { ++made; }
  ~Value() {
    if (text == whole) ++deleted_whole;
    if (per_thread<Used>().text == whole) ++used_at_end;
  }
  std::string text = whole;
};

}  // namespace

TEST_CASE("per_thread: a thread has one value of a type, and deletes it whole when it ends") {
  constexpr int threads = 4;
  made = deleted_whole = used_at_end = 0;
  std::vector<const Value*> first(threads), second(threads);
  std::atomic<int> waiting{threads};
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      per_thread<Used>();  // Made first, so it outlives the other value.
      first[t] = &per_thread<Value>();
      --waiting;
      while (waiting != 0) std::this_thread::yield();  // All values exist at the same time.
      second[t] = &per_thread<Value>();
    });
  for (std::thread& thread : running) thread.join();
  for (std::size_t t = 0; t < threads; ++t) {
    CHECK(first[t] == second[t]);
    for (std::size_t other = 0; other < t; ++other) CHECK(first[t] != first[other]);
  }
  CHECK(made == threads);
  CHECK(deleted_whole == threads);
  CHECK(used_at_end == threads);
}
