//===- Table.cpp ---------------------------------------------------------------------===//

#include "tests/emulator/device/Table.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace gfx950emu::test {

void anyWords(uint32_t *in, uint32_t words, Random &random) {
  for (uint32_t i = 0; i < words; ++i)
    in[i] = random.next32();
}

std::string rowName(const ::testing::TestParamInfo<Kernels::ParamType> &info) {
  return std::string(std::get<0>(info.param).kernel) + "_" + std::get<1>(info.param);
}

std::vector<std::string> differences(const Row &row, const std::string &level) {
  std::vector<std::string> found;
  Device device(std::string(row.source) + "." + level);
  uint32_t *in = device.buffer<uint32_t>(row.inWords), *out = device.buffer<uint32_t>(row.outWords);
  Random random(2026);
  row.fill(in, row.inWords, random);
  const std::vector<uint32_t> input(in, in + row.inWords);
  std::vector<uint32_t> expected(row.outWords);
  const uint32_t items = row.groups * row.block;
  row.expect({input.data(), expected.data(), items, level == "Flush"});
  for (uint64_t seed : {0, 3}) { // any order of workgroups and waves
    device.options.seed = seed;
    std::fill(out, out + row.outWords, 0u);
    auto stats = device.launch(row.kernel, {row.groups, 1, 1}, {row.block, 1, 1},
                               Args().add(out).add(in).add(items));
    if (!stats) {
      found.push_back(llvm::toString(stats.takeError()));
      return found;
    }
    if (stats->waves != row.groups * ((row.block + 63) / 64))
      found.push_back(llvm::formatv("{0} waves ran", stats->waves));
    for (uint32_t i = 0; i < row.outWords; ++i)
      if (out[i] != expected[i])
        found.push_back(llvm::formatv("seed {0} word {1} expected {2:x8} found {3:x8}", seed, i,
                                      expected[i], out[i]));
    if (!std::equal(input.begin(), input.end(), in))
      found.push_back("the kernel changed its input");
  }
  return found;
}

TEST_P(Kernels, DeviceGivesWhatTheHostExpects) {
  const auto &[row, level] = GetParam();
  const std::vector<std::string> found = differences(row, level);
  for (size_t i = 0; i < std::min<size_t>(found.size(), 5); ++i)
    ADD_FAILURE() << found[i];
  EXPECT_EQ(found.size(), 0u);
}

/// Odd values first, as the kernel `compact` leaves them.
static void oddFirst(const Data &data) {
  uint32_t *to = data.out;
  for (uint32_t parity : {1, 0})
    to = std::copy_if(data.in, data.in + data.items, to,
                      [=](uint32_t v) { return (v & 1) == parity; });
}

/// One bit of one dword, and a kernel that does not exist.
TEST(Table, WrongExpectationIsFound) {
  Row row{"Lanes", "compact", 1, 64, 64, 64, anyWords, oddFirst};
  EXPECT_EQ(differences(row, "O3"), std::vector<std::string>{});
  Row wrong = row;
  wrong.expect = [](const Data &data) {
    oddFirst(data);
    data.out[41] ^= 0x800;
  };
  const std::vector<std::string> found = differences(wrong, "O3");
  ASSERT_EQ(found.size(), 2u); // one a seed
  EXPECT_NE(found[0].find("seed 0 word 41 "), std::string::npos) << found[0];
  row.kernel = "absent";
  EXPECT_EQ(differences(row, "O3"), std::vector<std::string>{"no kernel absent"});
}

} // namespace gfx950emu::test
