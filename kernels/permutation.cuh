// Large random permutations: a bijection of the positions below n, which a key chooses. No position depends on another one, so
// there is nothing to sort, and part of a permutation costs its part.
//
// A Feistel network over numbers of two digits: Luby and Rackoff, "How to construct pseudorandom permutations from pseudorandom
// functions", 1988; with digits of different ranges: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002. The
// digits' numbers are those below `highs` * 2^bits, of which there are n and fewer than 2^bits more. A number of n or above is
// permuted again. Rounds add instead of exclusive or, so odd permutations are as frequent as even ones. Four rounds fail
// tests of the order of three numbers, six pass them; there are twice as many.

// Mixes all bits: the last steps of Appleby's MurmurHash3, 2011.
__device__ inline unsigned int gpulua_mix(unsigned int x) {
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}

// The number at position i, both from 0. The stream's block of that number is the key. n: 2^2 to 2^62.
__device__ inline unsigned long long gpulua_permutation(unsigned long long key, unsigned long long block, long long i,
                                                        unsigned long long n) {
  const gpulua_philox words = gpulua_philox::of(key, block);
  const int bits = (64 - __clzll((long long)(n - 1))) / 2;
  const unsigned int highs = (unsigned int)((n - 1) >> bits) + 1, low_mask = (1u << bits) - 1;
  unsigned long long at = (unsigned long long)i;
  do {
    unsigned int high = (unsigned int)(at >> bits), low = (unsigned int)at & low_mask;
#pragma unroll
    for (int round = 0; round < 12; round += 2) {
      const unsigned int turn = (unsigned int)(round / 4) * 0x9E3779B9u;
      high += __umulhi(gpulua_mix(low ^ (words.word[round % 4] + turn)), highs);
      if (high >= highs) high -= highs;
      low = (low + gpulua_mix(high ^ (words.word[round % 4 + 1] + turn))) & low_mask;
    }
    at = (unsigned long long)high << bits | low;
  } while (at >= n);
  return at;
}
