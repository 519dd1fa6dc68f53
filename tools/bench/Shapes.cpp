//===- Shapes.cpp - the steps that kernels are counted on ---------------------===//
//
// Owns: what Shapes.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/Shapes.h"

#include <algorithm>

namespace bench {

namespace {

constexpr int64_t kK = 1024;

constexpr Shape decode(std::string_view name, std::string_view what, RequestGroup first,
                       RequestGroup second = {}) {
  return {name, what, "decode", 1, {first, second}};
}

constexpr Shape verify(std::string_view name, std::string_view what, RequestGroup first,
                       RequestGroup second = {}) {
  return {name, what, "verify", 8, {first, second}};
}

constexpr Shape prefill(std::string_view name, std::string_view what, int64_t chunk,
                        int64_t prefix) {
  return {name, what, "prefill", 0, {RequestGroup{1, prefix}}, chunk, chunk};
}

constexpr Shape kRowShapes[] = {
    decode("rows-1", "1 row, decode", {1, 1}),
    decode("rows-8", "8 rows, decode", {8, 1}),
    decode("rows-64", "64 rows, decode", {64, 1}),
    decode("rows-384", "384 rows, decode", {384, 1}),
    prefill("rows-4096", "4096 rows, prefill", 4096, 0),
    prefill("rows-32768", "32768 rows, prefill", 32768, 0),
};

constexpr Shape kContextShapes[] = {
    decode("bs8-mixed-q1", "450K + 7 x 150K, Q = 1", {1, 450 * kK}, {7, 150 * kK}),
    verify("bs8-mixed-q8", "450K + 7 x 150K, Q = 8", {1, 450 * kK}, {7, 150 * kK}),
    decode("bs48-274k-q1", "48 x 274K, Q = 1", {48, 274 * kK}),
    verify("bs48-274k-q8", "48 x 274K, Q = 8", {48, 274 * kK}),
    decode("bs1-1m-q1", "1 x 1M, Q = 1", {1, kK * kK}),
    verify("bs1-1m-q8", "1 x 1M, Q = 8", {1, kK * kK}),
    decode("bs128-8k-q1", "128 x 8K, Q = 1", {128, 8 * kK}),
    verify("bs128-8k-q8", "128 x 8K, Q = 8", {128, 8 * kK}),
    prefill("prefill-16k-0", "16K rows after 0", 16 * kK, 0),
    prefill("prefill-16k-100k", "16K rows after 100K", 16 * kK, 100 * kK),
    prefill("prefill-32k-100k", "32K rows after 100K", 32 * kK, 100 * kK),
};

constexpr Shape kAttentionShapes[] = {
    decode("attn-1", "1 row: 1 x 128K, Q = 1", {1, 128 * kK}),
    decode("attn-8", "8 rows: 8 x 64K, Q = 1", {8, 64 * kK}),
    verify("attn-8-q8", "8 rows: 1 x 128K, Q = 8", {1, 128 * kK}),
    decode("attn-64", "64 rows: 64 x 8K, Q = 1", {64, 8 * kK}),
    verify("attn-64-q8", "64 rows: 8 x 64K, Q = 8", {8, 64 * kK}),
    decode("attn-384", "384 rows: 384 x 4K, Q = 1", {384, 4 * kK}),
    verify("attn-384-q8", "384 rows: 48 x 8K, Q = 8", {48, 8 * kK}),
    prefill("attn-4096", "4096 rows after 100K", 4 * kK, 100 * kK),
};

} // namespace

int64_t Shape::requests() const { return groups[0].requests + groups[1].requests; }

std::vector<int64_t> Shape::seqLens() const {
  std::vector<int64_t> result;
  for (const RequestGroup &group : groups)
    result.insert(result.end(), static_cast<size_t>(group.requests),
                  group.tokens + (isPrefill() ? chunk : 0));
  return result;
}

std::span<const Shape> rowShapes() { return kRowShapes; }
std::span<const Shape> contextShapes() { return kContextShapes; }
std::span<const Shape> attentionShapes() { return kAttentionShapes; }

Shape sampled(const Shape &shape, int64_t fraction) {
  if (!shape.isPrefill() || fraction <= 1)
    return shape;
  constexpr int64_t kUnit = 64;
  Shape result = shape;
  result.chunk = std::min(shape.chunk, std::max(kUnit, shape.chunk / fraction / kUnit * kUnit));
  const int64_t before = (shape.chunk - result.chunk) / 2 / kUnit * kUnit;
  for (RequestGroup &group : result.groups)
    if (group.requests != 0)
      group.tokens += before;
  return result;
}

} // namespace bench
