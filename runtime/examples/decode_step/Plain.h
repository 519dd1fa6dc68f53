//===- Plain.h - what the decode step must compute, as plain C++ ------------===//
//
// Owns: the layout of the example's cache, and the slow way to the block ids and the
// attention of a row, from the bytes that are in the cache.
//
//===------------------------------------------------------------------------===//
#ifndef DECODE_STEP_PLAIN_H
#define DECODE_STEP_PLAIN_H

#include <cstddef>
#include <cstdint>
#include <vector>

// decode.toml, as numbers.
constexpr std::size_t kRequests = 4, kHeads = 16, kDim = 128, kPage = 128, kTopK = 8;
constexpr std::size_t kMaxBlocks = 2048 / kPage; ///< pages a request may have; a block is a page
constexpr std::size_t kPages = kRequests * kMaxBlocks;
constexpr float kScale = 0.08838834764831845f * 1.4426950409f; ///< softmax in base 2

/// One NVFP4 tensor [pages][page][kDim]: 4-bit codes, two a byte, and a scale byte for 16 of them.
struct Tensor {
  std::vector<std::uint8_t> payload, scale;
  float at(std::size_t token, std::size_t d) const;
};

/// The pages of a request: page of block `b` of request `r`. Any permutation will do.
constexpr std::size_t pageOf(std::size_t r, std::size_t b) { return b * kRequests + r; }
/// Where the token at `position` lies in its planes.
constexpr std::size_t slotOf(std::size_t r, std::size_t position) {
  return pageOf(r, position / kPage) * kPage + position % kPage;
}

float fromBf16(std::uint16_t bits);
std::uint16_t toBf16(float exact); ///< of a number that bf16 holds

/// The kTopK block ids of a row over `length` tokens: its own block, then by score; -1 at the end.
std::vector<std::int32_t> selectBlocks(const Tensor &indexKeys, std::size_t request,
                                       std::size_t length, const std::uint16_t *indexQuery);

/// Attention of one head over the tokens of `ids`: kDim numbers.
std::vector<double> attend(const Tensor &k, const Tensor &v, std::size_t request,
                           std::size_t length, const std::int32_t *ids, const std::uint16_t *query);

#endif // DECODE_STEP_PLAIN_H
