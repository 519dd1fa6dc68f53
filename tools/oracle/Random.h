//===- Random.h - reproducible random numbers ---------------------*- C++ -*-===//
//
// Owns: SplitMix64. The same sequence on every machine, unlike <random>'s
// distributions.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_ORACLE_RANDOM_H
#define NVFP4GEN_TOOLS_ORACLE_RANDOM_H

#include <cstddef>
#include <cstdint>

namespace oracle {

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, bound); bound <= 2^32.
  size_t below(size_t bound) { return (next() >> 32) * bound >> 32; }

private:
  uint64_t state;
};

} // namespace oracle

#endif // NVFP4GEN_TOOLS_ORACLE_RANDOM_H
