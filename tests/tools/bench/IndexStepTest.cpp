//===- IndexStepTest.cpp - pages and partitions, known by hand ----------------===//
//
// S1 to S4: the pages that a shape demands are counted here without the kernel, and a
// partition that is wrong or unfair shows.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/IndexStep.h"
#include "tests/BundleFixture.h"
#include "tools/bench/Inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <set>

namespace nvfp4gen {
namespace {

using bench::Device;
using bench::Shape;
using bench::StepMap;
using test::BundleFile;
using testing::HasSubstr;

class IndexStep : public testing::Test {
protected:
  void SetUp() override {
    auto opened = nvfp4rt::Bundle::openFile(file.path());
    ASSERT_TRUE(opened) << opened.error().message;
    bundle.emplace(std::move(*opened));
    auto made = Device::open(*bundle);
    ASSERT_TRUE(made) << made.error().message;
    device = std::move(*made);
  }

  StepMap mapOf(std::string_view name, int64_t blockSize = 128) {
    for (const Shape &shape : bench::contextShapes())
      if (shape.name == name) {
        auto map = StepMap::create(*device, shape, blockSize);
        EXPECT_TRUE(map) << map.error().message;
        return std::move(*map);
      }
    ADD_FAILURE() << name;
    return {};
  }

  BundleFile file{test::specOf("tiny"), {"kv_store"}}; // any: none of its kernels is launched
  std::optional<nvfp4rt::Bundle> bundle;
  std::unique_ptr<Device> device;
};

/// What step_map is to write for requests of `blocks` each: fair, or with `extra` blocks more for
/// the first worker at the cost of the second.
void partition(const StepMap &map, const std::vector<int32_t> &blocks, uint64_t extra = 0) {
  const nvfp4rt_step_map_args &args = map.args();
  std::vector<uint64_t> first;
  uint64_t total = 0;
  for (size_t s = 0; s < blocks.size(); ++s) {
    first.push_back(total);
    args.segments[s].first_block = static_cast<int32_t>(total);
    args.segments[s].blocks = blocks[s];
    total += static_cast<uint64_t>(blocks[s]);
  }
  for (uint64_t w = 0; w <= args.workers; ++w) {
    const uint64_t begin = w * total / args.workers + (w == 1 ? extra : 0);
    const auto segment = std::upper_bound(first.begin(), first.end(), begin) - first.begin() - 1;
    args.work[w] = {static_cast<int32_t>(segment),
                    static_cast<int32_t>(begin - first[static_cast<size_t>(segment)])};
    if (w == args.workers)
      args.work[w] = {static_cast<int32_t>(blocks.size()), 0};
  }
}

const std::vector<int32_t> kMixed = {3600, 1200, 1200, 1200, 1200, 1200, 1200, 1200};

TEST_F(IndexStep, CountsPages) {
  StepMap mixed = mapOf("bs8-mixed-q8");
  EXPECT_EQ(mixed.rows(), 64u);
  EXPECT_EQ(mixed.segments(), 8u);
  EXPECT_EQ(mixed.mostSegmentRows(), 8u);
  EXPECT_EQ(mixed.blocks(), 12000u);
  EXPECT_EQ(mixed.rowBlocks(), 8u * 12000u); // all 8 rows end in the last block
  EXPECT_EQ(mixed.mostBlocks(), 3600);
  EXPECT_EQ(mapOf("bs1-1m-q1").blocks(), 8192u);
  EXPECT_EQ(mapOf("bs128-8k-q1").blocks(), 128u * 64u);
  EXPECT_EQ(mapOf("bs128-8k-q1", 64).blocks(), 128u * 128u);

  // Segment i of 64 rows sees 64 (i + 1) tokens: 1, 1, 2, 2, ... 128, 128 blocks.
  StepMap prefill = mapOf("prefill-16k-0");
  EXPECT_EQ(prefill.segments(), 256u);
  EXPECT_EQ(prefill.blocks(), 128u * 129u);
  EXPECT_EQ(prefill.rowBlocks(), 64u * 128u * 129u);
  EXPECT_EQ(prefill.inputBytes(), 4u * (1 + 2 + 1));
  EXPECT_EQ(prefill.outputBytes(), 16384u * 16 + 256u * 32 + 513u * 8);
  // The same behind 100K tokens, 800 blocks more each.
  EXPECT_EQ(mapOf("prefill-16k-100k").blocks(), 128u * 129u + 256u * 800u);
}

TEST_F(IndexStep, ImbalanceIsThatOfThePartition) {
  StepMap map = mapOf("bs8-mixed-q8");
  partition(map, kMixed);
  EXPECT_TRUE(map.check());
  EXPECT_EQ(map.imbalance(), 1u); // 12000 / 512 = 23.4
  // Planted: 5 blocks more for the first worker are as many fewer for the second.
  partition(map, kMixed, 5);
  EXPECT_TRUE(map.check());
  EXPECT_EQ(map.imbalance(), (23u + 5u) - (23u - 5u));

  StepMap even = mapOf("bs1-1m-q1");
  partition(even, {8192});
  EXPECT_EQ(even.imbalance(), 0u); // 16 each
}

TEST_F(IndexStep, WrongPartitionIsAnError) {
  StepMap map = mapOf("bs8-mixed-q8");
  std::vector<int32_t> wrong = kMixed;
  ++wrong[3];
  partition(map, wrong);
  auto checked = map.check();
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message,
              HasSubstr("expected 8 segments of 12000 pages, found 8 of 12001"));
  partition(map, kMixed);
  map.args().work[bench::kWorkers] = {7, 0};
  EXPECT_FALSE(map.check());
}

TEST_F(IndexStep, InputsAreValidAndTheirPagesDistinct) {
  auto scales = device->allocate("scales", 5 << 20);
  ASSERT_TRUE(scales);
  bench::fillScales(*scales);
  for (uint64_t i = 0; i < scales->size(); ++i) {
    const uint8_t byte = scales->as<uint8_t>()[i];
    ASSERT_TRUE(byte >= 0x01 && byte <= 0x7e) << i;
  }
  auto codes = device->allocate("codes", 8 << 20);
  ASSERT_TRUE(codes);
  bench::fillCodes(*codes);
  std::set<std::string_view> pages;
  for (uint64_t at = 0; at < codes->size(); at += 8192)
    pages.insert({codes->as<char>() + at, 8192});
  EXPECT_EQ(pages.size(), codes->size() / 8192);

  auto scores = device->allocate("scores", 3 << 20);
  ASSERT_TRUE(scores);
  bench::fillScores(*scores);
  const float *begin = scores->as<float>();
  EXPECT_TRUE(std::all_of(begin, begin + scores->size() / 4,
                          [](float score) { return score >= 0 && score < 1; }));

  auto values = device->allocate("values", 1 << 20);
  ASSERT_TRUE(values);
  bench::fillValues(*values, *nvfp4rt::symbolValue(nvfp4rt::Field::dtype, "bf16"));
  for (uint64_t i = 0; i < values->size() / 2; ++i) {
    const uint32_t bits = static_cast<uint32_t>(values->as<uint16_t>()[i]) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    ASSERT_GE(std::fabs(value), 0x1p-7f);
    ASSERT_LT(std::fabs(value), 2.0f);
  }
  std::vector<int32_t> order = bench::permutation(1000, 1);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int32_t i = 0; i < 1000; ++i)
    ASSERT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_F(IndexStep, BlockTableNamesEachPageOnce) {
  bench::Buffers buffers;
  bench::Allocator allocator(*device, buffers);
  const std::vector<int64_t> lens = {100, 33, 16}; // 7, 3 and 1 pages of 16
  const bench::BlockTable table = bench::BlockTable::create(allocator, lens, 16);
  ASSERT_TRUE(allocator.result());
  EXPECT_EQ(table.pages, 11);
  EXPECT_EQ(table.stride, 7 * 4);
  std::multiset<int32_t> found(table.entries, table.entries + 3 * 7);
  EXPECT_EQ(found.count(-1), 10u);
  for (int32_t page = 0; page < 11; ++page)
    EXPECT_EQ(found.count(page), 1u) << page;
  EXPECT_EQ(table.entries[7 + 3], -1);
  EXPECT_NE(table.entries[7 + 2], -1);
}

// A device that is full says so for the first buffer that it refuses, and no other is made.
TEST_F(IndexStep, AllocatorKeepsTheFirstError) {
  bench::Buffers buffers;
  bench::Allocator allocator(*device, buffers);
  EXPECT_NE(allocator.add("fits", 64), nullptr);
  EXPECT_EQ(allocator.add("refused", uint64_t{1} << 60), nullptr);
  EXPECT_EQ(bench::IdLists::create(allocator, 4, 2, 16).ids, nullptr);
  EXPECT_EQ(bench::BlockTable::create(allocator, {100}, 16).entries, nullptr);
  EXPECT_EQ(buffers.size(), 1u);
  auto result = allocator.result();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, NVFP4RT_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(result.error().message, HasSubstr("refused"));
}

} // namespace
} // namespace nvfp4gen
