//===- DispatchTests.cpp - geometry, hidden arguments, order, faults of launches -------===//

#include "tests/emulator/Fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gfx950emu::test {
namespace {

class Launch : public ::testing::Test {
protected:
  Device device{"Waves.O3"};
  /// The fault of a launch that must fail.
  FaultText fails(const std::string &kernel, std::array<uint32_t, 3> grid,
                  std::array<uint32_t, 3> block, const Args &args) {
    auto r = device.launch(kernel, grid, block, args);
    if (r)
      return {FaultKind::BadCodeObject, "(the launch succeeded)"};
    return faultOf(r.takeError());
  }
};

/// Each part of a message, in words.
void expectAll(const FaultText &fault, std::initializer_list<std::string> parts) {
  for (const std::string &part : parts)
    EXPECT_NE(fault.message.find(part), std::string::npos)
        << "no '" << part << "' in: " << fault.message;
}

TEST_F(Launch, GeometryAndHiddenArguments) {
  const std::array<uint32_t, 3> shapes[][2] = {{{1, 1, 1}, {1, 1, 1}},
                                               {{3, 2, 2}, {5, 3, 2}}, // 30 items: a partial wave
                                               {{2, 3, 1}, {64, 2, 1}},
                                               {{7, 1, 3}, {1, 65, 1}}, // one lane in wave 2
                                               {{1, 1, 2}, {16, 8, 8}}};
  for (const auto &[grid, block] : shapes)
    for (uint64_t seed : {0, 5}) {
      uint32_t items = block[0] * block[1] * block[2];
      uint32_t groups = grid[0] * grid[1] * grid[2];
      uint32_t *out = device.buffer<uint32_t>(4 * items * groups);
      device.options.seed = seed;
      device.options.threads = seed ? 3 : 1;
      auto r = device.launch("geometry", grid, block, Args().add(out));
      ASSERT_TRUE(bool(r)) << faultOf(r.takeError()).message;
      EXPECT_EQ(r->waves, uint64_t(groups) * ((items + 63) / 64));
      EXPECT_EQ(r->globalBytesWritten, uint64_t(groups) * items * 16);
      for (uint32_t g = 0; g < groups; ++g)
        for (uint32_t i = 0; i < items; ++i) {
          const uint32_t *o = out + 4 * (g * items + i);
          ASSERT_EQ(o[0], g % grid[0] | g / grid[0] % grid[1] << 8 | g / grid[0] / grid[1] << 16);
          ASSERT_EQ(o[1],
                    i % block[0] | i / block[0] % block[1] << 8 | i / block[0] / block[1] << 16);
          ASSERT_EQ(o[2], block[0] | block[1] << 8 | block[2] << 16);
          ASSERT_EQ(o[3], grid[0] | grid[1] << 8 | grid[2] << 16);
        }
      EXPECT_TRUE(device.memory.release(out));
    }
}

TEST_F(Launch, SeedPermutesWorkgroupsAndWaves) {
  auto orderOf = [&](uint64_t seed) {
    uint32_t *order = device.buffer<uint32_t>(1 + 8 * 4);
    device.options.seed = seed;
    auto r = device.launch("runOrder", {8, 1, 1}, {256, 1, 1}, Args().add(order));
    EXPECT_TRUE(bool(r)) << faultOf(r.takeError()).message;
    return std::vector<uint32_t>(order + 1, order + 33);
  };
  std::vector<uint32_t> ascending(32);
  for (uint32_t i = 0; i < 32; ++i)
    ascending[i] = i;
  EXPECT_EQ(orderOf(0), ascending);
  std::vector<uint32_t> first = orderOf(1), again = orderOf(1), second = orderOf(2);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, ascending);
  EXPECT_NE(first, second);
  std::vector<uint32_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, ascending);
}

TEST_F(Launch, StatsDoNotDependOnThreadsOrSeed) {
  uint32_t *out = device.buffer<uint32_t>(4 * 128 * 50);
  RunStats reference;
  for (unsigned threads : {1u, 2u, 5u}) {
    device.options.threads = threads;
    device.options.seed = threads - 1;
    auto r = device.launch("geometry", {50, 1, 1}, {128, 1, 1}, Args().add(out));
    ASSERT_TRUE(bool(r)) << faultOf(r.takeError()).message;
    if (threads == 1)
      reference = *r;
    EXPECT_EQ(r->waves, reference.waves);
    EXPECT_EQ(r->instructions, reference.instructions);
    EXPECT_EQ(r->globalBytesRead, reference.globalBytesRead);
    EXPECT_EQ(r->globalBytesWritten, reference.globalBytesWritten);
  }
}

TEST_F(Launch, AllWorkgroupsMakeProgressInASpinBarrier) {
  for (unsigned threads : {1u, 3u}) {
    uint32_t *arrived = device.buffer<uint32_t>(1);
    device.options.threads = threads;
    auto r =
        device.launch("gridBarrier", {40, 1, 1}, {64, 1, 1}, Args().add(arrived).add(40u * 64));
    ASSERT_TRUE(bool(r)) << faultOf(r.takeError()).message;
    EXPECT_EQ(*arrived, 40u * 64);
  }
}

TEST_F(Launch, DynamicLds) {
  uint32_t *out = device.buffer<uint32_t>(64), words = 1000;
  device.dynamicLdsBytes = 4 * words;
  auto r = device.launch("dynamicLds", {1, 1, 1}, {64, 1, 1}, Args().add(out).add(words));
  ASSERT_TRUE(bool(r)) << faultOf(r.takeError()).message;
  EXPECT_EQ(out[63], 3 * (words * (words - 1) / 2));
  device.dynamicLdsBytes = 4 * words - 4;
  FaultText fault = fails("dynamicLds", {1, 1, 1}, {64, 1, 1}, Args().add(out).add(words));
  EXPECT_EQ(fault.kind, FaultKind::OutOfBounds);
  expectAll(fault, {"LDS", "3996 bytes"});
}

TEST_F(Launch, RefusesImpossibleLaunches) {
  uint32_t *out = device.buffer<uint32_t>(64);
  Args args;
  args.add(out);
  EXPECT_EQ(fails("geometry", {0, 1, 1}, {64, 1, 1}, args).kind, FaultKind::BadDispatch);
  EXPECT_EQ(fails("geometry", {1, 1, 1}, {64, 0, 1}, args).kind, FaultKind::BadDispatch);
  FaultText fault = fails("geometry", {1, 1, 1}, {32, 32, 2}, args);
  EXPECT_EQ(fault.kind, FaultKind::BadDispatch);
  expectAll(fault, {"geometry", "1024", "2048"});
  fault = fails("geometry", {1, 1, 1}, {64, 1, 1}, Args().add(uint32_t(0)));
  EXPECT_EQ(fault.kind, FaultKind::BadDispatch);
  expectAll(fault, {"kernel arguments", "8", "found 4"});
  device.dynamicLdsBytes = 160 * 1024 + 1;
  expectAll(fails("geometry", {1, 1, 1}, {64, 1, 1}, args), {"LDS", "163840", "163841"});
}

TEST_F(Launch, OutOfBoundsNamesEverything) {
  uint32_t *out = device.buffer<uint32_t>(16);
  FaultText fault = fails("storeAt", {3, 1, 1}, {64, 1, 1}, Args().add(out).add(uint64_t(17)));
  EXPECT_EQ(fault.kind, FaultKind::OutOfBounds);
  expectAll(fault,
            {"kernel storeAt", "workgroup (1, 0, 0)", "wave 0", "lane 3", "pc 0x", "storeAt+0x",
             "global_store_dword", "write of 4 bytes", "of 64 bytes", "4 bytes past its end"});
  // The last byte that exists, and across the end.
  auto r = device.launch("storeAt", {3, 1, 1}, {64, 1, 1}, Args().add(out).add(uint64_t(15)));
  EXPECT_TRUE(bool(r)) << faultOf(r.takeError()).message;
  fault = fails("storeAt", {3, 1, 1}, {64, 1, 1},
                Args().add(reinterpret_cast<uint8_t *>(out) + 2).add(uint64_t(15)));
  EXPECT_EQ(fault.kind, FaultKind::OutOfBounds);
  expectAll(fault, {"crosses the end"});
}

TEST_F(Launch, ReadOnlyMemory) {
  std::vector<uint32_t> constant(64, 9);
  uint64_t base = reinterpret_cast<uint64_t>(constant.data());
  device.memory.add(base, 256, /*writable=*/false);
  uint32_t *out = device.buffer<uint32_t>(1);
  auto r = device.launch("loadAt", {1, 1, 1}, {64, 1, 1},
                         Args().add(out).add(constant.data()).add(uint64_t(63)));
  EXPECT_TRUE(bool(r)) << faultOf(r.takeError()).message;
  EXPECT_EQ(*out, 9u);
  FaultText fault =
      fails("storeAt", {2, 1, 1}, {64, 1, 1}, Args().add(constant.data()).add(uint64_t(0)));
  EXPECT_EQ(fault.kind, FaultKind::OutOfBounds);
  expectAll(fault, {"read-only"});
  device.memory.remove(base);
}

TEST_F(Launch, UnknownInstruction) {
  FaultText fault = fails("unknownInstruction", {1, 1, 1}, {64, 1, 1}, Args());
  EXPECT_EQ(fault.kind, FaultKind::UnknownInstruction);
  expectAll(fault, {"v_mqsad_u32_u8", "pc 0x", "unknownInstruction+0x", "0000e7d1040d2204"});
}

TEST_F(Launch, BudgetTrapJumpAndMisalignment) {
  uint32_t *out = device.buffer<uint32_t>(4);
  device.options.maxInstructions = 1000;
  FaultText fault = fails("spinForever", {1, 1, 1}, {64, 1, 1}, Args().add(out));
  EXPECT_EQ(fault.kind, FaultKind::BudgetExhausted);
  expectAll(fault, {"spinForever", "1000 wave instructions"});
  out[0] = 0;
  fault = fails("trapNow", {1, 1, 1}, {64, 1, 1}, Args().add(out));
  EXPECT_EQ(fault.kind, FaultKind::Trap);
  expectAll(fault, {"trapNow", "trap 2"});
  fault = fails("badJump", {1, 1, 1}, {64, 1, 1}, Args().add(uint64_t(0x1234)));
  EXPECT_EQ(fault.kind, FaultKind::BadBranch);
  expectAll(fault, {"0x1234", "s_setpc_b64"});
  fault = fails("misalignedAtomic", {1, 1, 1}, {64, 1, 1}, Args().add(out));
  EXPECT_EQ(fault.kind, FaultKind::Misaligned);
  expectAll(fault, {"lane 0", "global_atomic_add", "4 bytes"});
}

TEST(Memory, LargePoolsAreLazy) {
  MemoryMap memory;
  constexpr uint64_t size = uint64_t(70) << 30;
  auto *p = static_cast<uint8_t *>(memory.allocate(size));
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(memory.allocatedBytes(), size);
  p[size - 1] = 1;
  EXPECT_EQ(p[size / 2], 0);
  uint64_t base = reinterpret_cast<uint64_t>(p);
  ASSERT_TRUE(memory.find(base + size - 1));
  EXPECT_EQ(memory.find(base + size - 1)->base, base);
  EXPECT_FALSE(memory.find(base + size));
  EXPECT_EQ(memory.nearest(base + size + 5)->base, base);
  EXPECT_FALSE(memory.release(p + 4096));
  EXPECT_TRUE(memory.release(p));
  EXPECT_FALSE(memory.release(p));
  EXPECT_EQ(memory.allocatedBytes(), 0u);
  EXPECT_EQ(memory.allocate(0), nullptr);
  EXPECT_EQ(memory.allocate(UINT64_MAX), nullptr);
}

} // namespace
} // namespace gfx950emu::test
