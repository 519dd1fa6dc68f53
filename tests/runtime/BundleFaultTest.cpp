//===- BundleFaultTest.cpp - truncated and corrupted bundles ----------------===//
//
// Every length and thousands of changed bytes: always a typed error, never a
// crash. With the digest made right again, the checks behind it are reached.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/TestBundle.h"

#include <array>
#include <gtest/gtest.h>
#include <random>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

bool isOpenError(nvfp4rt_status code) {
  return code == NVFP4RT_ERROR_BAD_ELF || code == NVFP4RT_ERROR_BAD_MANIFEST ||
         code == NVFP4RT_ERROR_VERSION || code == NVFP4RT_ERROR_WRONG_ARCH ||
         code == NVFP4RT_ERROR_CHECKSUM || code == NVFP4RT_ERROR_ARGS_LAYOUT;
}

} // namespace

TEST(BundleFault, EveryTruncation) {
  const ByteVector good = goodBundle();
  for (size_t length = 0; length < good.size(); ++length) {
    const Error error =
        openError(ByteVector(good.begin(), good.begin() + static_cast<ptrdiff_t>(length)));
    EXPECT_TRUE(isOpenError(error.code)) << length << ": " << error.message;
  }
  EXPECT_EQ(openError(good).code, NVFP4RT_OK);
}

TEST(BundleFault, EveryByteIsUnderTheDigest) {
  const ByteVector good = goodBundle();
  for (size_t i = 0; i < good.size(); ++i) {
    ByteVector file = good;
    file[i] ^= static_cast<uint8_t>(1u << (i % 8));
    const Error error = openError(std::move(file));
    EXPECT_TRUE(isOpenError(error.code)) << i << ": " << error.message;
  }
}

TEST(BundleFault, RandomChangesBehindTheDigest) {
  const ByteVector good = goodBundle();
  std::mt19937_64 random(11);
  std::array<size_t, 16> seen{};
  for (int round = 0; round < 10000; ++round) {
    ByteVector file = good;
    for (int i = 0; i < 1 + round % 4; ++i)
      file[random() % file.size()] = static_cast<uint8_t>(random());
    redigest(file);
    const Error error = openError(std::move(file));
    // Bytes that nothing reads (padding, .comment, .symtab) may change.
    EXPECT_TRUE(error.code == NVFP4RT_OK || isOpenError(error.code)) << error.message;
    ++seen[error.code];
  }
  // The changes did get behind the digest, to the note, the manifest and the kernels.
  EXPECT_GT(seen[NVFP4RT_OK], 0u);
  EXPECT_GT(seen[NVFP4RT_ERROR_BAD_ELF], 100u);
  EXPECT_GT(seen[NVFP4RT_ERROR_BAD_MANIFEST], 100u);
  EXPECT_GT(seen[NVFP4RT_ERROR_CHECKSUM], 40u);
}
