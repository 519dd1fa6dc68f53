//===- Inputs.cpp - what a program's lanes compute on ----------------------===//
#include "tests/emulator/ir/Inputs.h"

#include "tests/emulator/ir/Emitter.h"
#include "tests/emulator/ir/Program.h"

#include <bit>

namespace irfuzz {
namespace {

/// Bits of a float of `exponentBits` and `mantissaBits`: moderate values, small integers, edges,
/// anything.
uint64_t floatBits(Random &random, unsigned exponentBits, unsigned mantissaBits) {
  const uint64_t maxExponent = (1ull << exponentBits) - 1, bias = maxExponent >> 1;
  const uint64_t mantissaMask = (1ull << mantissaBits) - 1;
  uint64_t bits = random.next(), sign = bits & 1, mantissa = (bits >> 8) & mantissaMask;
  uint64_t exponent = bias;
  switch ((bits >> 1) % 16) {
  case 0: // zero and denormals
    exponent = 0;
    mantissa = bits >> 62 ? mantissa >> ((bits >> 60) & 7) : 0;
    break;
  case 1: // infinities and NaN
    exponent = maxExponent;
    mantissa = bits >> 63 ? mantissa : 0;
    break;
  case 2: // the ends of the normal range
    exponent = bits >> 63 ? maxExponent - 1 - (random.next() & 1) : 1 + (random.next() & 1);
    if (bits >> 62 & 1)
      mantissa = bits >> 61 & 1 ? mantissaMask : 0;
    break;
  case 3:
  case 4: // small integers and halves
    exponent = bias + random.next() % 6 - 1;
    mantissa &= mantissaMask ^ (mantissaMask >> 4);
    break;
  case 5: // anything
    exponent = random.next() & maxExponent;
    break;
  case 6: // about the limits of the integer types
    exponent = bias + std::min<uint64_t>(bias, 5 + random.next() % 60);
    mantissa &= bits >> 63 ? mantissaMask : 0;
    break;
  default:
    exponent = bias + random.next() % 12 - 6;
    break;
  }
  return sign << (exponentBits + mantissaBits) | exponent << mantissaBits | mantissa;
}

uint64_t integerBits(Random &random, unsigned width) {
  const uint64_t mask = ~0ull >> (64 - width);
  uint64_t bits = random.next();
  switch (bits % 8) {
  case 0:
    return random.next() % 17 & mask;
  case 1:
    return -(random.next() % 17) & mask;
  case 2: // one bit, a run of ones, all but
    return (1ull << random.next() % width) & mask;
  case 3:
    return ((1ull << random.next() % width) - 1) & mask;
  case 4:
    return ~(1ull << random.next() % width) & mask;
  default:
    return bits >> 3 & mask;
  }
}

uint64_t slotBits(Random &random, unsigned slot) {
  if (slot < 4)
    return floatBits(random, 8, 23) | floatBits(random, 8, 23) << 32;
  if (slot < 8)
    return floatBits(random, 11, 52);
  uint64_t bits = 0;
  if (slot < 10) {
    for (unsigned i = 0; i < 4; ++i)
      bits |= floatBits(random, 5, 10) << 16 * i;
    return bits;
  }
  unsigned width = slot < 13 ? 32 : slot == 13 ? 16 : slot == 14 ? 8 : 64;
  for (unsigned at = 0; at < 64; at += width)
    bits |= integerBits(random, width) << at;
  return bits;
}

} // namespace

Inputs inputsOf(uint64_t seed) {
  Random random(mixed(seed, 1));
  Inputs inputs;
  inputs.lanes.reserve(size_t(Lanes) * InputSlots);
  for (unsigned lane = 0; lane < Lanes; ++lane)
    for (unsigned slot = 0; slot < InputSlots; ++slot)
      inputs.lanes.push_back(slotBits(random, slot));
  for (unsigned slot = 0; slot < UniformSlots; ++slot)
    inputs.uniform.push_back(slotBits(random, slot));
  return inputs;
}

} // namespace irfuzz
