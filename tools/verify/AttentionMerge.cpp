//===- AttentionMerge.cpp - the checks of sparse_attention_merge ------------===//
//
// Owns: which launches a sparse_attention_merge variant must get right (A1, A2, A4):
// parts with any sums, few or none of them empty, against float64.
//
//===------------------------------------------------------------------------===//
#include "tools/oracle/Exact.h"
#include "tools/oracle/Random.h"
#include "tools/verify/AttentionRuns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace verify {

using namespace attention;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// Rows that differ; further ones are these again, which must have the same bits (A4).
constexpr int64_t kDistinctRows = 24;
constexpr int64_t kMostRows = 1024;

/// The numbers of one part.
struct Part {
  std::vector<float> acc; ///< [16][headDim]
  float m[Config::kPartHeads], l[Config::kPartHeads];
};

class PartSource {
public:
  PartSource(const Config &config, uint64_t seed) : config(config), random(seed) {}

  /// Part `p` of the n-th (row, kv head): by n all, some, one or none of the parts are empty, and
  /// maxima are near each other, equal or far apart.
  Part part(int64_t n, int64_t p) {
    Part part;
    const int64_t kind = n % 8;
    const bool empty = kind == 7 || (kind == 5 && p != n / 8 % config.parts()) ||
                       (kind == 6 && (p + n / 8) % 2 == 0);
    for (int64_t j = 0; j < Config::kPartHeads; ++j) {
      const bool unused = j >= config.shape.groupHeads;
      part.m[j] = unused ? std::numeric_limits<float>::quiet_NaN() : maximum(kind, p);
      part.l[j] = unused ? kInfinity : static_cast<float>(1 + 511 * unit());
      if (empty && !unused) {
        part.m[j] = -kInfinity;
        part.l[j] = 0;
      }
      for (int64_t d = 0; d < config.shape.headDim; ++d)
        part.acc.push_back(unused  ? std::numeric_limits<float>::quiet_NaN()
                           : empty ? 0
                                   : static_cast<float>((2 * unit() - 1) * 6 * part.l[j]));
    }
    return part;
  }

private:
  const Config &config;
  oracle::Random random;

  double unit() { return double(random.below(1 << 24)) / (1 << 24); }
  float maximum(int64_t kind, int64_t p) {
    switch (kind) {
    case 0: // the same in all parts
      return 3.5f;
    case 1: // one part outweighs all others, which underflow
      return p == 1 % config.parts() ? 900.0f : -900.0f;
    case 2: // each by far smaller than the one before, and less than 0
      return static_cast<float>(-2000 - 9 * p);
    default:
      return static_cast<float>(16 * unit() - 8);
    }
  }
};

class MergeLaunch {
public:
  MergeLaunch(Job &job, const Config &config, int64_t rows, int64_t first, Layout layout)
      : job(job), config(config), rows(rows), out(rowStrides(config, RowsOf::Out, rows, layout)),
        where(fmt::format("{} rows from part {} on, {} layout", rows, first,
                          kLayoutNames[static_cast<size_t>(layout)])),
        arena(job, where) {
    // The same rows for every variant, beginning with another one.
    PartSource source(config, job.seed);
    std::vector<std::vector<Part>> distinct;
    for (int64_t n = 0; n < kDistinctRows * config.shape.kvHeads; ++n) {
      distinct.emplace_back();
      for (int64_t p = 0; p < config.parts(); ++p)
        distinct.back().push_back(source.part(n, p));
    }
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t h = 0; h < config.shape.kvHeads; ++h)
        for (const Part &part : distinct[static_cast<size_t>(
                 (i + first) % kDistinctRows * config.shape.kvHeads + h)]) {
          floats.insert(floats.end(), part.acc.begin(), part.acc.end());
          floats.insert(floats.end(), part.m, part.m + Config::kPartHeads);
          floats.insert(floats.end(), part.l, part.l + Config::kPartHeads);
        }
  }

  bool run() {
    const Arena::Buffer partial = arena.input("partial", floats);
    buffer = arena.output(
        "out", static_cast<uint64_t>(out.at(rows - 1, config.qHeads() - 1) + config.headBytes()),
        out.margins);
    nvfp4rt_sparse_attention_merge_args args{};
    args.partial = arena.device<const float>(partial);
    args.out = arena.device<void>(buffer);
    args.out_row_stride = out.row;
    args.out_head_stride = out.head;
    args.rows = static_cast<uint32_t>(rows);
    if (!arena.launch(job.variant, config.request, args))
      return false;
    bool right = true;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t h = 0; h < config.qHeads(); ++h)
        right = compareHead(i, h) && right;
    job.report.values += static_cast<uint64_t>(rows * config.qHeads() * config.shape.headDim);
    return arena.compare([&](Arena::Buffer at, uint64_t offset) {
      return at == buffer ? words(offset) : std::string();
    }) && right;
  }

private:
  Job &job;
  const Config &config;
  int64_t rows;
  RowStrides out;
  std::string where;
  Arena arena;
  std::vector<float> floats;
  Arena::Buffer buffer = 0;

  /// What is compared bit by bit: zeros, and rows that are there twice.
  std::string words(uint64_t offset) const {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t head = 0; head < config.qHeads(); ++head)
        if (const auto begin = static_cast<uint64_t>(out.at(row, head));
            offset >= begin && offset < begin + static_cast<uint64_t>(config.headBytes()))
          return row < kDistinctRows
                     ? fmt::format("row {} q head {}: every part is empty, expected +0; rule A2",
                                   row, head)
                     : fmt::format("row {} q head {}: expected the bits of row {}, or +0; rules "
                                   "A2, A4",
                                   row, head, row - kDistinctRows);
    return {};
  }

  bool compareHead(int64_t row, int64_t qHead) {
    const oracle::AttentionShape &shape = config.shape;
    const int64_t kvHead = qHead / shape.groupHeads, j = qHead % shape.groupHeads;
    auto part = [&](int64_t p) {
      return floats.data() +
             ((row * shape.kvHeads + kvHead) * config.parts() + p) * config.partFloats();
    };
    auto m = [&](int64_t p) { return part(p)[Config::kPartHeads * shape.headDim + j]; };
    auto l = [&](int64_t p) {
      return part(p)[Config::kPartHeads * shape.headDim + Config::kPartHeads + j];
    };
    double largest = -kInfinity;
    for (int64_t p = 0; p < config.parts(); ++p)
      largest = std::max(largest, double{m(p)});
    const auto begin = static_cast<uint64_t>(out.at(row, qHead));
    if (largest == -kInfinity) { // A2: the bytes of +0
      std::memset(arena.expected<std::byte>(buffer) + begin, 0,
                  static_cast<size_t>(config.headBytes()));
      return true;
    }
    if (row >= kDistinctRows) { // the bits of its twin in this launch
      const auto twin = static_cast<uint64_t>(out.at(row - kDistinctRows, qHead));
      for (int64_t d = 0; d < shape.headDim; ++d)
        arena.expected<uint16_t>(buffer)[begin / 2 + static_cast<uint64_t>(d)] =
            arena.found<uint16_t>(buffer, twin + static_cast<uint64_t>(d) * 2);
      return true;
    }
    double sum = 0;
    for (int64_t p = 0; p < config.parts(); ++p)
      sum += double{l(p)} * std::exp2(m(p) - largest);
    for (int64_t d = 0; d < shape.headDim; ++d) {
      double value = 0, magnitude = 0;
      for (int64_t p = 0; p < config.parts(); ++p) {
        const double term = double{part(p)[j * shape.headDim + d]} * std::exp2(m(p) - largest);
        value += term / sum;
        magnitude += std::fabs(term) / sum;
      }
      // One rounding to the model dtype, after a few in fp32.
      const int mantissa = oracle::traits(shape.dtype).mantissaBits;
      const double bound =
          std::ldexp(std::fabs(value), -mantissa - 1) + std::ldexp(magnitude, -19) + 1e-7;
      const auto bits = arena.found<uint16_t>(buffer, begin + static_cast<uint64_t>(d) * 2);
      const double share = std::fabs(oracle::value(bits, shape.dtype) - value) / bound;
      const bool within = share <= 1; // not when it is NaN
      job.report.worstError = std::max(job.report.worstError, within ? share : double{kInfinity});
      if (!within) {
        job.report.mismatchingBytes += 2;
        arena.fault(fmt::format("row {} q head {} element {}: expected {:.6g} within {:.3g}, found "
                                "{:.6g}; rules A1, A4",
                                row, qHead, d, value, bound, oracle::value(bits, shape.dtype)));
        return false;
      }
      arena.accept(buffer, begin + static_cast<uint64_t>(d) * 2, 2);
    }
    return true;
  }
};

} // namespace

void verifySparseAttentionMerge(Job &job) {
  std::vector<Config> configs;
  if (!cornerConfigs(job, Reader::Merge, configs))
    return;
  auto turn = static_cast<int64_t>(configs.back().requests);
  for (const Config &config : configs) {
    // Rows of every bucket are alike: one of each kernel has many.
    const bool most = job.kernelReport && &config == &configs.back();
    const int64_t room = config.prefill() ? mostRowsOf(config.request) : config.rows();
    for (int64_t rows :
         {std::min(room, most ? kMostRows : 2 * kDistinctRows + 3), std::min<int64_t>(room, 8)}) {
      if (!MergeLaunch(job, config, rows, turn * 5, static_cast<Layout>(turn % 3)).run())
        return;
      ++turn;
    }
  }
  if (!job.kernelReport)
    return;
  for (Layout layout : {Layout::Dense, Layout::Gapped, Layout::Interleaved})
    for (int64_t first = 0; first < kDistinctRows; first += 8) {
      const uint64_t before = job.report.values;
      const int64_t rows = std::min<int64_t>(configs.back().rows(), kDistinctRows);
      if (!MergeLaunch(job, configs.back(), rows, first, layout).run())
        return;
      job.kernelReport->pinnedSets.push_back(
          {fmt::format("parts from {} on, {} layout", first,
                       kLayoutNames[static_cast<size_t>(layout)]),
           job.report.values - before});
      job.report.pinnedValues += job.report.values - before;
    }
}

} // namespace verify
