#include <exception>

#include "cli/apart.h"

namespace crisol::cli {

Ending run_apart(const std::function<void(const Send&)>& work, const std::function<void(const std::string&)>& receive) {
  try {
    work(receive);
    return {true, ""};
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
}

}  // namespace crisol::cli
