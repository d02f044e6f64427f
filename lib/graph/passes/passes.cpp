#include "graph/passes/passes.h"

#include <array>
#include <set>
#include <sstream>
#include <string>

#include "base/system.h"
#include "base/text.h"

namespace crisol::graph {

std::span<const Pass> all_passes() {
  static constexpr std::array passes{
      Pass{"remove_identities", remove_identities}, Pass{"find_layer_norms", find_layer_norms},
      Pass{"simplify_powers", simplify_powers},     Pass{"find_attention", find_attention},
      Pass{"move_transposes", move_transposes},     Pass{"fold_affine", fold_affine},
      Pass{"remove_dead_nodes", remove_dead_nodes}, Pass{"block_channels", block_channels},
      Pass{"centre_numbers", centre_numbers},       Pass{"join_casts", join_casts},
      Pass{"tabulate_bytes", tabulate_bytes},       Pass{"fuse_elements", fuse_elements},
      Pass{"join_separable", join_separable},       Pass{"find_lookups", find_lookups},
      Pass{"join_products", join_products},         Pass{"fuse_epilogues", fuse_epilogues},
  };
  return passes;
}

bool is_enabled(const char* pass) {
  static const std::set<std::string> disabled = [] {
    std::set<std::string> names;
    std::istringstream parts(system::environment("CRISOL_PASSES"));
    for (std::string part; std::getline(parts, part, ',');) {
      if (part.empty()) continue;
      const std::string name = part.substr(1);
      bool known = name == folding || name == packing || name == capturing;
      for (const Pass& one : all_passes()) known = known || name == one.name;
      require(part[0] == '-' && known, "CRISOL_PASSES", '\'', part, "' is not -NAME of a pass");
      names.insert(name);
    }
    return names;
  }();
  return disabled.count(pass) == 0;
}

}  // namespace crisol::graph
