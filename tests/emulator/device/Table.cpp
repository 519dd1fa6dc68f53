//===- Table.cpp ---------------------------------------------------------------------===//

#include "tests/emulator/device/Table.h"

namespace gfx950emu::test {

void anyWords(uint32_t *in, uint32_t words, Random &random) {
  for (uint32_t i = 0; i < words; ++i)
    in[i] = random.next32();
}

std::string rowName(const ::testing::TestParamInfo<Kernels::ParamType> &info) {
  return std::string(std::get<0>(info.param).kernel) + "_" + std::get<1>(info.param);
}

TEST_P(Kernels, DeviceGivesWhatTheHostExpects) {
  const auto &[row, level] = GetParam();
  Device device(std::string(row.source) + "." + level);
  uint32_t *in = device.buffer<uint32_t>(row.inWords), *out = device.buffer<uint32_t>(row.outWords);
  Random random(2026);
  row.fill(in, row.inWords, random);
  const std::vector<uint32_t> input(in, in + row.inWords);
  std::vector<uint32_t> expected(row.outWords);
  row.expect(
      {input.data(), expected.data(), row.groups * row.block, std::string_view(level) == "Flush"});
  for (uint64_t seed : {0, 3}) { // any order of workgroups and waves
    device.options.seed = seed;
    std::fill(out, out + row.outWords, 0u);
    auto stats = device.launch(row.kernel, {row.groups, 1, 1}, {row.block, 1, 1},
                               Args().add(out).add(in).add(row.groups * row.block));
    ASSERT_TRUE(bool(stats)) << faultOf(stats.takeError()).message;
    EXPECT_EQ(stats->waves, row.groups * ((row.block + 63) / 64));
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < row.outWords; ++i)
      if (out[i] != expected[i] && wrong++ < 5)
        ADD_FAILURE() << "seed " << seed << " word " << i << std::hex << " expected " << expected[i]
                      << " found " << out[i];
    ASSERT_EQ(wrong, 0u);
    ASSERT_TRUE(std::equal(input.begin(), input.end(), in)) << "the kernel changed its input";
  }
}

} // namespace gfx950emu::test
