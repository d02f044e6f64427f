// Images (N, C, H, W) as volumes (N, C, D, H, W) with one slice.
#pragma once

#include "crisol/shape.h"

namespace crisol::reference {

inline Shape volume_of(Shape images) {
  images.insert(2, 1);
  return images;
}

inline Shape images_of(Shape volumes) {
  volumes.erase(2);
  return volumes;
}

}  // namespace crisol::reference
