// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011): four uniform words of 32 bits from a counter and a key.
//
// A generator's state is two ulongs in device memory, {seed, counter}. Element i of a draw is word i % 4 of block
// counter + i / 4 under the key `seed`, whatever the launch geometry; random_advance (random.cl) then adds the number of
// blocks that were used to the counter.

inline uint4 philox4x32(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const uint a = 0xd2511f53u * counter.x;
    const uint a_high = mul_hi(0xd2511f53u, counter.x);
    const uint b = 0xcd9e8d57u * counter.z;
    const uint b_high = mul_hi(0xcd9e8d57u, counter.z);
    counter = (uint4)(b_high ^ counter.y ^ key.x, b, a_high ^ counter.w ^ key.y, a);
    key += (uint2)(0x9e3779b9u, 0xbb67ae85u);
  }
  return counter;
}

// Block `index` of the draw: the words of elements 4 index … 4 index + 3.
inline uint4 random_block(__global const ulong* state, long index) {
  const ulong seed = state[0];
  const ulong block = state[1] + (ulong)index;
  return philox4x32((uint4)((uint)block, (uint)(block >> 32), 0u, 0u), (uint2)((uint)seed, (uint)(seed >> 32)));
}
