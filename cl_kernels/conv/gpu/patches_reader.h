// B of conv2d_tiled.cl: columns that are gathered from the images while they are read.
//
// An item reads GATHER neighbouring elements of the depth in one column. A table of conv2d_tiled_prepare.cl says where
// they are in the images, so that a loop divides nothing. The table has one entry for CHANNEL_VECTOR neighbours: so
// many channels at one tap. An entry has two numbers. The first is a distance in bytes: from the pixel of the first tap
// to the first pixel of the entry. The second is the tap, as bits of gpu/window.h. A column has the bits of all taps
// that are outside of the plane.
//
#include "common/subgroup_broadcast.h"
#include "conv/gpu/window.h"
#include "product/gpu/engines/engine.h"
#include "product/gpu/storage.h"

#ifndef SRC_STORAGE  // How the images are stored (product/gpu/storage.h).
#define SRC_STORAGE STORAGE_F32
#endif
#ifndef CHANNEL_VECTOR  // 1 or 8.
#define CHANNEL_VECTOR 1
#endif

#define GATHER GATHER_OF_ITEM(BN, SLICE, ITEMS)
#if GATHER % GATHER_MULTIPLE
#error "an item reads whole fours of the table"
#endif
#define SHARED (GATHER < CHANNEL_VECTOR ? GATHER : CHANNEL_VECTOR)  // The number of an item's elements that share one
                                                                    // entry.
#define ENTRIES (GATHER / SHARED)

INLINE int patch_column(void) { return tile_item() % BN; }
#if BN % 64  // No wave has more than 64 items.
INLINE int patch_line(void) { return tile_item() / BN * GATHER; }
#else
INLINE int patch_line(void) { return SUBGROUP_BROADCAST(tile_item() / BN * GATHER); }
#endif

typedef struct {
  // src[c] points to channel c of the first image that the tile reads. The pointers are the same for all items, so that
  // an address is one pointer plus one number.
  __global const char* src[SHARED];
  uint first;  // Distance in bytes from src to the first tap of the item's column. This tap may be outside of the
               // plane.
  uint outside;
  __global const int2* table;  // Starts at the item's first line of the slice.
  uint hidden[ENTRIES];        // For each entry of the slice that was read last: not 0 if outside of the plane.
} PatchesReader;

// Begins at the tile's column `column` (of n columns) and at `first` in the depth. src points to the start of the
// group.
INLINE void patches_begin(PatchesReader* g, __global const char* src, __global const int* table, int first, int column,
                          int n, const PatchesParameters* p, const WindowParameters* w) {
  const uint pixels = (uint)p->pixels, bytes = STORED_BYTES(SRC_STORAGE);
  const long plane = (long)w->height * w->width * (AXES == 3 ? w->depth : 1);
  const uint tile_image = SUBGROUP_BROADCAST((uint)column / pixels), own = (uint)min(column + patch_column(), n - 1);
  const uint image = own / pixels;
  const int element = first_element(own - image * pixels, p, w, &g->outside);
  UNROLL
  for (int e = 0; e < SHARED; ++e) g->src[e] = src + (tile_image * p->image + e * plane) * bytes;
  g->first = ((image - tile_image) * (uint)p->image + (uint)element) * bytes;
  g->first += patch_line() % CHANNEL_VECTOR * (uint)plane * bytes;
  g->table = (__global const int2*)table + (first + patch_line()) / CHANNEL_VECTOR;
}

INLINE void patches_entries(const PatchesReader* g, int2* entries) {
#if CHANNEL_VECTOR == 1
  UNROLL
  for (int u = 0; u < ENTRIES; u += 2) {
    const int4 two = ((__global const int4*)g->table)[u / 2];
    entries[u] = two.s01;
    entries[u + 1] = two.s23;
  }
#else
  UNROLL
  for (int u = 0; u < ENTRIES; ++u) entries[u] = g->table[u];
#endif
}

// Reads a whole slice of the depth, even where the slice reaches beyond the end.
INLINE void patches_load(PatchesReader* g, VALUE_TYPE* values) {
  int2 entries[ENTRIES];
  patches_entries(g, entries);
  UNROLL
  for (int u = 0; u < ENTRIES; ++u) {
    g->hidden[u] = g->outside & (uint)entries[u].y;
    const uint place = g->first + (uint)entries[u].x, at = !SKIPS_HIDDEN && g->hidden[u] != 0 ? 0 : place;
    UNROLL
    for (int e = 0; e < SHARED; ++e) {
      __global const char* from = g->src[e] + at;
#if SKIPS_HIDDEN
      values[u * SHARED + e] = 0.0f;
      if (g->hidden[u] == 0) values[u * SHARED + e] = stored_value(from, SRC_STORAGE);
#else
      // Outside of the plane this reads the value at another address that is readable. The value is not used.
      values[u * SHARED + e] = stored_value(from, SRC_STORAGE);
#endif
    }
  }
}

// Sets the values of the slice from `depth` on to 0.
INLINE void patches_end(VALUE_TYPE* values, int depth) {
  UNROLL
  for (int p = 0; p < GATHER; ++p)
    if (patch_line() + p >= depth) values[p] = 0.0f;
}

// Moves along the depth by a multiple of four and of CHANNEL_VECTOR.
INLINE void patches_move(PatchesReader* g, int depth) { g->table += (uint)depth / CHANNEL_VECTOR; }

// The value that was read for line p of the slice, or 0 if it is outside of the plane. The reads were queued before,
// and only this function waits for them.
INLINE VALUE_TYPE patches_value(const PatchesReader* g, const VALUE_TYPE* values, int p) {
  return !SKIPS_HIDDEN && g->hidden[p / SHARED] != 0 ? 0.0f : values[p];
}

INLINE void patches_keep(const PatchesReader* g, const VALUE_TYPE* read, __local StageWord* to) {
  VALUE_TYPE values[GATHER];
  UNROLL
  for (int p = 0; p < GATHER; ++p) values[p] = patches_value(g, read, p);
  stage_run(to, BN, patch_column(), patch_line(), values, GATHER);
}
