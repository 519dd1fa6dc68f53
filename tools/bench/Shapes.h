//===- Shapes.h - the steps that kernels are counted on -----------------------===//
//
// Owns: the shape tables. A shape is a step of a serving engine: its phase, its
// requests with their contexts, and its rows; a family says which table it runs.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_BENCH_SHAPES_H
#define NVFP4GEN_TOOLS_BENCH_SHAPES_H

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench {

/// Requests with equally long contexts.
struct RequestGroup {
  int64_t requests = 0;
  /// Tokens of each: in decode and verify all, the step's own included; in prefill the prefix
  /// before the step's rows.
  int64_t tokens = 0;
};

struct Shape {
  std::string_view name; ///< one word, for --shape
  std::string_view what;
  std::string_view phase; ///< a symbol of the guard field `phase`
  int64_t queryLen = 0;   ///< rows a request; 0 in prefill, as in guards
  std::array<RequestGroup, 2> groups;
  int64_t chunk = 0;     ///< prefill: rows of each request
  int64_t fullChunk = 0; ///< prefill: `chunk` before it was sampled

  bool isPrefill() const { return queryLen == 0; }
  int64_t requests() const;
  int64_t rowsPerRequest() const { return isPrefill() ? chunk : queryLen; }
  int64_t rows() const { return requests() * rowsPerRequest(); }
  /// Tokens of each request, the step's rows included (rule S1).
  std::vector<int64_t> seqLens() const;
};

/// For writers: nothing but the number of rows matters.
std::span<const Shape> rowShapes();
/// For readers of the cache: decode, verify and chunked prefill over contexts up to 1M tokens.
std::span<const Shape> contextShapes();
/// For attention, whose work is the blocks that rows have chosen: contexts of more blocks than a
/// list has, by number of rows.
std::span<const Shape> attentionShapes();

/// Of a prefill shape one row in `fraction`, as one run of rows from the middle of the chunk, in
/// multiples of 64 and not less; other shapes, and 1, change nothing.
Shape sampled(const Shape &shape, int64_t fraction);

} // namespace bench

#endif // NVFP4GEN_TOOLS_BENCH_SHAPES_H
