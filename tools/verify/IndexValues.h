//===- IndexValues.h - numbers for queries and keys -------------------------===//
//
// Owns: the kinds of numbers that scorers are tried with, and the bytes that lie
// past the causal lengths.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_INDEXVALUES_H
#define NVFP4GEN_TOOLS_VERIFY_INDEXVALUES_H

#include "tools/oracle/Index.h"

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace verify::index {

enum class Values : uint8_t {
  Exact,     ///< small integers and quarters: scores are exact
  Random,    ///< normal values with outlier channels
  OneHot,    ///< a query is one 1 or -1: exact scores of any code under any finite scale
  Ascending, ///< exact; a later token of a block always has the larger product
  Zero,      ///< queries of +-0: every score is a tie
  Special,   ///< exact keys; queries with NaN, infinities, the largest and the smallest numbers
};
inline constexpr std::string_view kValuesNames[] = {"exact",     "random", "one-hot",
                                                    "ascending", "zero",   "special"};

/// Keys, token after token.
class KeySource {
public:
  /// `shape` is borrowed.
  KeySource(const oracle::IndexShape &shape, Values values, uint64_t seed);
  /// Write the key of the token at `position` of its request.
  void write(int64_t position, uint8_t *payload, uint8_t *scale);

private:
  const oracle::IndexShape &shape;
  Values values;
  uint64_t seed;
  std::vector<oracle::Group> groups;     ///< of Random, in turn
  std::vector<uint8_t> payloads, scales; ///< of Exact, in turn
  size_t next = 0;
  std::mt19937_64 random;
};

/// A stale token: by `turn` a NaN scale, or the largest codes, positive or negative.
void writePoison(const oracle::IndexShape &shape, int64_t turn, uint8_t *payload, uint8_t *scale);
/// A token of zeros as kv_store writes it.
void writeZeros(const oracle::IndexShape &shape, uint8_t *payload, uint8_t *scale);

/// Queries, (row, head) after (row, head).
class QuerySource {
public:
  /// `shape` is borrowed.
  QuerySource(const oracle::IndexShape &shape, Values values, uint64_t seed);
  /// Write the next query, head_dim elements.
  void write(uint16_t *to);

private:
  const oracle::IndexShape &shape;
  Values values;
  uint64_t seed;
  std::vector<std::array<uint16_t, 16>> groups; ///< of Random
  size_t next = 0;

  void writeSpecial(uint16_t *to) const;
};

} // namespace verify::index

#endif // NVFP4GEN_TOOLS_VERIFY_INDEXVALUES_H
