//===- SameTests.cpp - Math.cpp and Control.cpp, compiled for device and host -------===//

#include "tests/emulator/device/Table.h"

// The host's build of the kernels.
unsigned hostGlobalId;
extern bool hostFlush;
extern "C" {
#define HOST(NAME) void NAME(uint32_t *, const uint32_t *, uint32_t)
HOST(integer64);
HOST(math32);
HOST(math64);
HOST(denormals);
HOST(packedHalf);
HOST(diverge);
HOST(machine);
HOST(pointers);
HOST(recursion);
HOST(arrays);
#undef HOST
}

namespace gfx950emu::test {
namespace {

template <void (*Kernel)(uint32_t *, const uint32_t *, uint32_t)> void onHost(const Data &data) {
  hostFlush = data.flush;
  for (hostGlobalId = 0; hostGlobalId < data.items; ++hostGlobalId)
    Kernel(data.out, data.in, data.items);
}

/// Floats of all kinds, every other one near its neighbour.
void floats(uint32_t *in, uint32_t words, Random &random) {
  static constexpr uint32_t edges[] = {
      0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x00800001,
      0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000, 0x3f7fffff,
      0x4b000000, 0x4affffff, 0x7ff00000, 0xfff00000, 0x000fffff, 0x00100000, 0x7fefffff};
  for (uint32_t i = 0; i < words; ++i) {
    in[i] = random.next32();
    if (random.next32() % 8 == 0)
      in[i] = edges[random.next32() % std::size(edges)];
    else if (i && random.next32() % 2)
      in[i] = (in[i] & 0x807fffff) | (in[i - 1] & 0x7f800000);
  }
}

/// Exponents where products and sums are denormal.
void tiny(uint32_t *in, uint32_t words, Random &random) {
  for (uint32_t i = 0; i < words; ++i) {
    uint32_t exponent =
        i % 4 == 1 && random.next32() % 2 ? 120 + random.next32() % 12 : random.next32() % 28;
    in[i] = (random.next32() & 0x807fffff) | exponent << 23;
  }
}

constexpr uint32_t groups = 11, block = 192, items = groups * block;
#define SAME(SOURCE, NAME, FILL)                                                                   \
  Row { SOURCE, #NAME, groups, block, 4 * items, 8 * items, FILL, onHost<NAME> }

INSTANTIATE_TEST_SUITE_P(Integer, Kernels,
                         ::testing::Combine(::testing::Values(SAME("Math", integer64, anyWords),
                                                              SAME("Math", packedHalf, anyWords),
                                                              SAME("Math", math64, floats),
                                                              SAME("Math", denormals, tiny),
                                                              SAME("Control", diverge, anyWords),
                                                              SAME("Control", machine, anyWords),
                                                              SAME("Control", pointers, anyWords),
                                                              SAME("Control", recursion, anyWords),
                                                              SAME("Control", arrays, anyWords)),
                                            ::testing::ValuesIn(levels)),
                         rowName);

// Division and square root of flushed operands are not stated by the same C.
INSTANTIATE_TEST_SUITE_P(Float, Kernels,
                         ::testing::Combine(::testing::Values(SAME("Math", math32, floats)),
                                            ::testing::Values("O1", "O3", "GlobalISel")),
                         rowName);

} // namespace
} // namespace gfx950emu::test
