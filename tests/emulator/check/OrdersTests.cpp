//===- OrdersTests.cpp - results that depend on the order of workgroups and waves ------------===//

#include "tests/emulator/check/Harness.h"
#include "tests/emulator/isa/Assembler.h"
#include "tools/gfx950emu/check/Orders.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gfx950emu::check::test {
namespace {

/// A kernel on 4 KiB of input and 64 KiB of output that starts with bytes of its own.
class Orders : public ::testing::Test {
protected:
  void assemble(const std::string &code, const test::Setup &setup = {}) {
    isatest::Assembled assembled = isatest::assemble(moduleText(code, setup));
    ASSERT_EQ(assembled.error, "");
    memory.trackDefined();
    auto loaded = CodeObject::load(assembled.image, memory);
    ASSERT_TRUE(bool(loaded)) << toString(loaded.takeError());
    object = std::move(*loaded);
    in = static_cast<uint8_t *>(memory.allocate(4096));
    out = static_cast<uint8_t *>(memory.allocate(outBytes));
    for (uint32_t i = 0; i < outBytes; ++i)
      out[i] = uint8_t(i * 7);
    for (uint8_t *buffer : {in, out})
      memory.markDefined(reinterpret_cast<uint64_t>(buffer), 4096);
    args[0] = reinterpret_cast<uint64_t>(in);
    args[1] = reinterpret_cast<uint64_t>(out);
    dispatch.object = object.get();
    dispatch.kernel = object->find("checked");
    dispatch.grid = {setup.workgroups, 1, 1};
    dispatch.block = {setup.waves * 64, 1, 1};
    dispatch.kernarg = {reinterpret_cast<const uint8_t *>(args), sizeof args};
  }
  OrdersResult runAll(unsigned count, size_t keep = 100, DispatchObserver *observer = nullptr) {
    auto result = runOrders(dispatch, memory, {}, count, keep, [&](size_t) { return observer; });
    if (result)
      return *result;
    error = toString(result.takeError());
    return {};
  }
  uint32_t word(const uint8_t *at) const {
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
  }

  static constexpr uint32_t outBytes = 65536;
  MemoryMap memory;
  std::unique_ptr<CodeObject> object;
  uint8_t *in = nullptr, *out = nullptr;
  uint64_t args[2] = {};
  Dispatch dispatch;
  std::string error;
};

// The last writer wins.
constexpr const char *lastWriter = "s_mov_b64 exec, 1\n v_mov_b32_e32 v2, s2\n"
                                   "global_store_dword v1, v2, s[6:7] offset:8";

TEST_F(Orders, LastWriterIsReported) {
  assemble(lastWriter, {.workgroups = 8});
  OrdersResult result = runAll(4);
  EXPECT_EQ(error, "");
  ASSERT_EQ(result.seeds.size(), 4u);
  ASSERT_FALSE(result.differences.empty());
  for (const OrderDifference &difference : result.differences) {
    EXPECT_EQ(difference.bytes, 1u) << "8 workgroups differ in one byte of the dword";
    ASSERT_EQ(difference.kept.size(), 1u);
    EXPECT_EQ(difference.kept[0].address, reinterpret_cast<uint64_t>(out) + 8);
    EXPECT_EQ(difference.kept[0].first, 7) << "ascending";
    EXPECT_LT(difference.kept[0].found, 7);
    const std::string text = orderText(dispatch, memory, result.seeds[0], difference);
    EXPECT_EQ(text.find("order dependence: kernel checked: 1 bytes differ between seeds 0 and " +
                        std::to_string(difference.seed) + ": byte 8 of the 65536 at "),
              0u)
        << text;
  }
  // Memory is as the first order left it, and as it was where nothing was written.
  EXPECT_EQ(word(out + 8), 7u);
  for (uint32_t i = 0; i < outBytes; ++i)
    if (i < 8 || i >= 12)
      ASSERT_EQ(out[i], uint8_t(i * 7)) << i;
}

TEST_F(Orders, OwnPlacesAreSilent) {
  assemble("s_mov_b64 exec, 1\n v_mov_b32_e32 v2, s2\n s_lshl_b32 s8, s2, 2\n"
           "v_mov_b32_e32 v1, s8\n global_store_dword v1, v2, s[6:7] offset:8",
           {.workgroups = 8});
  OrdersResult result = runAll(4);
  EXPECT_EQ(result.seeds.size(), 4u);
  EXPECT_TRUE(result.differences.empty());
  for (uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(word(out + 8 + 4 * i), i);
}

/// 1e8, then 1, 1, ...: sums of small floats first round otherwise than one by one.
#define ADD(OPERATION, LARGE, SMALL)                                                               \
  "s_mov_b64 exec, 1\n v_mov_b32_e32 v1, 0\n v_mov_b32_e32 v2, " LARGE "\n"                        \
  "s_cmp_eq_u32 s2, 0\n s_cbranch_scc1 .Ladd\n v_mov_b32_e32 v2, " SMALL "\n.Ladd:\n" OPERATION    \
  " v1, v2, s[4:5]"

TEST_F(Orders, SumOfFloatsIsReported) {
  assemble(ADD("global_atomic_add_f32", "0x4cbebc20", "1.0"), {.workgroups = 16});
  EXPECT_FALSE(runAll(4).differences.empty());
}

TEST_F(Orders, SumOfIntegersIsSilent) {
  assemble(ADD("global_atomic_add", "0x4cbebc20", "1"), {.workgroups = 16});
  OrdersResult result = runAll(4);
  EXPECT_TRUE(result.differences.empty());
  EXPECT_EQ(word(in), 0x4cbebc20u + 15) << "each order starts from the same memory";
}

// Within a workgroup: the waves of one.
TEST_F(Orders, LastWaveIsReported) {
  assemble("v_readfirstlane_b32 s8, v0\n s_mov_b64 exec, 1\n v_mov_b32_e32 v2, s8\n"
           "v_mov_b32_e32 v1, 0\n global_store_dword v1, v2, s[6:7]",
           {.waves = 8});
  EXPECT_FALSE(runAll(4).differences.empty());
}

TEST_F(Orders, KeepsWhatItIsTold) {
  assemble("v_mov_b32_e32 v2, s2\n v_mul_u32_u24_e32 v2, 0x10101, v2\n"
           "global_store_dword v1, v2, s[6:7]",
           {.workgroups = 8});
  OrdersResult result = runAll(3, 5);
  ASSERT_FALSE(result.differences.empty());
  EXPECT_EQ(result.differences[0].bytes, 64u * 3);
  ASSERT_EQ(result.differences[0].kept.size(), 5u);
  EXPECT_TRUE(std::is_sorted(result.differences[0].kept.begin(), result.differences[0].kept.end(),
                             [](auto &a, auto &b) { return a.address < b.address; }));
  EXPECT_NE(orderText(dispatch, memory, 0, result.differences[0]).find("; ..."), std::string::npos);
}

TEST_F(Orders, SeedsAreOrdersOfTheirOwn) {
  assemble("s_nop 0");
  EXPECT_EQ(distinctSeeds(dispatch, 5, 4), std::vector<uint64_t>{5}) << "one wave, one order";
  dispatch.grid = {2, 1, 1};
  EXPECT_EQ(distinctSeeds(dispatch, 0, 4).size(), 2u) << "two workgroups";
  dispatch.grid = {3, 1, 1};
  EXPECT_EQ(distinctSeeds(dispatch, 0, 10).size(), 6u) << "three: 3!";
  dispatch.grid = {1, 1, 1};
  dispatch.block = {128, 1, 1};
  EXPECT_EQ(distinctSeeds(dispatch, 0, 4).size(), 2u) << "two waves";
}

TEST_F(Orders, FaultNamesItsSeed) {
  // A ticket: who draws 7 must be workgroup 7.
  assemble("s_mov_b64 exec, 1\n v_mov_b32_e32 v1, 0\n v_mov_b32_e32 v2, 1\n"
           "global_atomic_add v3, v1, v2, s[4:5] sc0\n s_waitcnt vmcnt(0)\n"
           "v_readfirstlane_b32 s8, v3\n s_cmp_eq_u32 s8, s2\n s_cbranch_scc1 .Lgood\n"
           "global_load_dword v4, v1, s[4:5] offset:4092\n global_load_dword v4, v1, s[8:9]\n"
           ".Lgood:",
           {.workgroups = 8});
  runAll(4);
  EXPECT_NE(error.find("in the order of seed "), std::string::npos) << error;
  EXPECT_EQ(error.find("in the order of seed 0:"), std::string::npos) << error;
}

/// Under the checker: findings add up, a passed-over fault stays passed over, and what the first
/// order wrote is defined afterwards, what it did not write is not.
TEST_F(Orders, UnderTheChecker) {
  assemble("v_add_u32_e32 v3, 0xf04, v1\n global_load_dword v2, v3, s[4:5]\n s_waitcnt vmcnt(0)\n"
           "v_mov_b32_e32 v2, 0\n s_lshl_b32 s8, s2, 8\n s_add_u32 s8, s8, 0x2000\n"
           "v_add_u32_e32 v1, s8, v1\n global_store_dword v1, v2, s[6:7]",
           {.workgroups = 4});
  Checker checker;
  OrdersResult result = runAll(3, 100, &checker);
  EXPECT_EQ(error, "");
  EXPECT_TRUE(result.differences.empty());
  ASSERT_EQ(checker.findings().size(), 1u);
  EXPECT_EQ(checker.findings()[0].kind, CheckKind::Bounds);
  EXPECT_EQ(checker.findings()[0].count, 4u * 3);
  const MemoryMap::Region region = *memory.find(reinterpret_cast<uint64_t>(out));
  for (uint32_t i = 4096; i < outBytes; ++i)
    ASSERT_EQ(region.defined[i] != 0, i >= 0x2000 && i < 0x2400) << i;
}

} // namespace
} // namespace gfx950emu::check::test
