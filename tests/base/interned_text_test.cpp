#include "base/interned_text.h"

#include <string>
#include <thread>
#include <vector>

#include "doctest/doctest.h"

namespace crisol {

TEST_CASE("interned texts: equal texts have one number, which gives the text back") {
  CHECK(intern("") == 0);
  CHECK(interned(0).empty());
  const std::uint32_t number = intern("interned_text_test: a");
  CHECK(number != 0);
  CHECK(intern(std::string("interned_text_test: ") + 'a') == number);
  CHECK(intern("interned_text_test: b") != number);
  CHECK(interned(number) == "interned_text_test: a");
}

TEST_CASE("interned texts: several threads get the same numbers") {
  constexpr std::size_t threads = 4, texts = 200;
  std::vector<std::vector<std::uint32_t>> numbers(threads);
  std::vector<std::thread> running;
  for (std::vector<std::uint32_t>& mine : numbers)
    running.emplace_back([&mine] {
      for (std::size_t i = 0; i < texts; ++i) mine.push_back(intern("interned_text_test: " + std::to_string(i)));
    });
  for (std::thread& thread : running) thread.join();
  for (const std::vector<std::uint32_t>& mine : numbers) CHECK(mine == numbers[0]);
  for (std::size_t i = 0; i < texts; ++i) CHECK(interned(numbers[0][i]) == "interned_text_test: " + std::to_string(i));
}

}  // namespace crisol
