// Only for lib/ops/conv, until it is converted to plans; see tile_configs.h.
#pragma once

#include "ops/product/tile_configs.h"
