// Each item of a group exchanges its number with the items whose numbers differ from its own in one bit. It writes the
// numbers that it gets. For bits beyond SHUFFLE_LANES it writes -1.
#include "common/subgroup_shuffle.h"

#define PARTNER(bit) y[bit] = 1 << bit < SHUFFLE_LANES ? SHUFFLE_XOR(int, item, 1 << bit) : -1;

GROUP_KERNEL(64, 1) void shuffle_probe(__global int* y, const ulong y_offset) {
  const int item = get_local_id(0);
  y += y_offset + 5 * item;
  PARTNER(0)
  PARTNER(1)
  PARTNER(2)
  PARTNER(3)
  PARTNER(4)
}
