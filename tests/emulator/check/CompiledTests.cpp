//===- CompiledTests.cpp - what clang makes of device C under the checker --------------===//

#include "tools/gfx950emu/check/Checker.h"

#include "tests/emulator/Fixture.h"

#include <gtest/gtest.h>

namespace gfx950emu::check::test {
namespace {

using gfx950emu::test::Args;
using gfx950emu::test::Device;

class Compiled : public ::testing::TestWithParam<const char *> {
protected:
  Compiled() : device(std::string("CheckedMatrix.") + GetParam()) {
    device.memory.trackDefined();
    in = device.buffer<uint32_t>(words);
    gfx950emu::test::Random random(5);
    for (uint32_t i = 0; i < words; ++i)
      in[i] = random.next32() & 0x3fff3fff; // finite halves
    device.memory.markDefined(reinterpret_cast<uint64_t>(in), words * 4);
    out = device.buffer<uint32_t>(words);
    device.options.observer = &checker;
  }
  /// All findings, after a launch that ran to its end.
  std::string launch(const char *kernel, uint32_t grid, uint32_t block, const Args &args) {
    auto stats = device.launch(kernel, {grid, 1, 1}, {block, 1, 1}, args);
    if (!stats)
      return toString(stats.takeError());
    std::string all;
    for (const Finding &f : checker.findings())
      all += f.message() + "\n";
    return all;
  }

  static constexpr uint32_t words = 1 << 16;
  Checker checker;
  Device device;
  uint32_t *in = nullptr, *out = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Levels, Compiled, ::testing::Values("O1", "O3"));

TEST_P(Compiled, MfmaChain) { EXPECT_EQ(launch("mfmaChain", 4, 64, Args().add(out).add(in)), ""); }

TEST_P(Compiled, LdsTiles) {
  EXPECT_EQ(launch("ldsTiles", 4, 256, Args().add(out).add(in).add(uint32_t(7))), "");
}

TEST_P(Compiled, RegisterPressure) {
  EXPECT_EQ(launch("pressure", 4, 128, Args().add(out).add(in).add(words)), "");
}

TEST_P(Compiled, HandOverThroughAnAtomic) {
  uint32_t *partial = device.buffer<uint32_t>(1024), *counter = device.buffer<uint32_t>(1);
  device.memory.markDefined(reinterpret_cast<uint64_t>(counter), 4);
  for (uint64_t seed : {0, 3, 11}) {
    device.options.seed = seed;
    *counter = 0;
    EXPECT_EQ(launch("lastAddsUp", 8, 128, Args().add(out).add(partial).add(counter).add(in)), "");
    for (uint32_t i = 0; i < 128; ++i) {
      uint32_t sum = 0;
      for (uint32_t g = 0; g < 8; ++g)
        sum += in[g * 128 + i] * in[g * 128 + i];
      ASSERT_EQ(out[i], sum);
    }
  }
}

/// A true finding in compiled code.
TEST_P(Compiled, MixedOpcodesOnOneAccumulator) {
  launch("mixedOpcodes", 1, 64, Args().add(out).add(in));
  std::vector<Finding> findings = checker.findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, CheckKind::Hazard);
  EXPECT_NE(findings[0].message().find("accumulates on the result of one with another opcode"),
            std::string::npos)
      << findings[0].message();
}

} // namespace
} // namespace gfx950emu::check::test
