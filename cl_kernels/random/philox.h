// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011) makes four uniform words of 32 bits from a counter and a key.
//
// A generator's state is two ulongs in device memory, {seed, counter}. Element i of a draw is word i % 4 of block
// counter + i / 4 under the key `seed`, for every launch geometry. random_advance (random_uniform.cl) then adds the
// number of used blocks to the counter.

static inline uint4 philox4x32(uint4 counter, uint2 key) {
  // The code uses scalars and unrolled rounds, because vectors in a loop are eight times slower on PoCL.
  uint x = counter.x, y = counter.y, z = counter.z, w = counter.w;
#pragma unroll
  for (uint round = 0; round < 10; ++round) {
    const ulong a = (ulong)0xd2511f53u * x;
    const ulong b = (ulong)0xcd9e8d57u * z;
    x = (uint)(b >> 32) ^ y ^ (key.x + round * 0x9e3779b9u);
    y = (uint)b;
    z = (uint)(a >> 32) ^ w ^ (key.y + round * 0xbb67ae85u);
    w = (uint)a;
  }
  return (uint4)(x, y, z, w);
}

// Block `index` of the draw: the words of elements 4 index … 4 index + 3.
static inline uint4 random_block(__global const ulong* state, long index) {
  const ulong seed = state[0];
  const ulong block = state[1] + (ulong)index;
  return philox4x32((uint4)((uint)block, (uint)(block >> 32), 0u, 0u), (uint2)((uint)seed, (uint)(seed >> 32)));
}
