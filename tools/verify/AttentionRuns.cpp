//===- AttentionRuns.cpp - checked launches of sparse attention -------------===//
//
// Owns: what AttentionRuns.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/AttentionRuns.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace verify::attention {

using nvfp4rt::Field;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::string_view kFamily = "sparse_attention", kMerge = "sparse_attention_merge";

bool isBucketField(Field field) {
  return field == Field::phase || field == Field::query_len || field == Field::requests;
}

class BatchRun {
public:
  BatchRun(Job &job, const Launchee &launchee, PlacedCache &cache, Results &results,
           const Batch &batch)
      : job(job), launchee(launchee), config(launchee.config), cache(cache), results(results),
        batch(batch), rows(static_cast<int64_t>(batch.rows.size())),
        out(rowStrides(config, RowsOf::Out, rows, batch.layout)),
        workspace(workspaceBytes(*launchee.variant)),
        where(fmt::format("{} ({}: {} requests, {} rows, {} layout, {})", batch.name,
                          launchee.variant->name, config.requests, rows,
                          kLayoutNames[static_cast<size_t>(batch.layout)], cache.cache().text())) {}

  bool run() {
    Arena arena(job, where);
    nvfp4rt_sparse_attention_args args{};
    const Arena::Buffer buffer = arena.output("out", outBytes(), out.margins);
    Arena::Buffer partial = 0;
    if (workspace > 0) {
      if (workspace < static_cast<uint64_t>(config.partialBytes(rows))) {
        arena.fault(fmt::format("workspace: expected at least {} bytes for {} rows, found {}",
                                config.partialBytes(rows), rows, workspace));
        return false;
      }
      partial = arena.output("partial", workspace);
      args.partial = arena.device<float>(partial);
    }
    setInputs(arena, args);
    args.out = arena.device<void>(buffer);
    args.out_row_stride = out.row;
    args.out_head_stride = out.head;
    if (!arena.launch(*launchee.variant, config.request, args))
      return false;
    if (workspace == 0)
      return compareOut(arena, buffer, where);
    // The output still has to be untouched: nothing but the workspace is accepted.
    const auto used = static_cast<uint64_t>(config.partialBytes(rows));
    arena.accept(partial, 0, used);
    const auto *floats = arena.expected<float>(partial);
    if (!compareParts(arena, floats) || !arena.compare())
      return false;
    return merge(floats, used);
  }

private:
  Job &job;
  const Launchee &launchee;
  const Config &config;
  PlacedCache &cache;
  Results &results;
  const Batch &batch;
  int64_t rows;
  RowStrides out;
  uint64_t workspace;
  std::string where;
  /// The device must have a copy for as long as the launch runs.
  std::vector<uint16_t> queries;

  uint64_t outBytes() const {
    return static_cast<uint64_t>(out.at(rows - 1, config.qHeads() - 1) + config.headBytes());
  }

  void setInputs(Arena &arena, nvfp4rt_sparse_attention_args &args) {
    const oracle::AttentionShape &shape = config.shape;
    const RowStrides q = rowStrides(config, RowsOf::Q, rows, batch.layout);
    // Rows that are padding, and what lies between rows, are NaN in either dtype.
    queries.assign(
        static_cast<size_t>(q.at(rows - 1, config.qHeads() - 1) + config.headBytes()) / 2, 0xFFFF);
    const bool dense = batch.layout == Layout::Dense;
    const int64_t list = shape.topK * 4 + (dense ? 0 : 4);
    const bool headsOutside = batch.layout == Layout::Interleaved;
    const int64_t idsHead = headsOutside ? rows * list + 8 : list;
    const int64_t idsRow = headsOutside ? list : shape.kvHeads * list + (dense ? 0 : 12);
    std::vector<int32_t> ids(static_cast<size_t>(
        ((rows - 1) * idsRow + (shape.kvHeads - 1) * idsHead) / 4 + shape.topK));
    std::vector<nvfp4rt_step_row> steps;
    for (int64_t i = 0; i < rows; ++i) {
      const int row = batch.rows[static_cast<size_t>(i)];
      steps.push_back(row < 0 ? nvfp4rt_step_row{-1, 0, -1, 0}
                              : results.of().step(static_cast<size_t>(row)));
      for (int64_t h = 0; row >= 0 && h < config.qHeads(); ++h)
        std::ranges::copy(results.of().q(static_cast<size_t>(row), h),
                          queries.begin() + q.at(i, h) / 2);
      for (int64_t h = 0; h < shape.kvHeads; ++h) {
        int32_t *to = ids.data() + (i * idsRow + h * idsHead) / 4;
        if (row >= 0)
          std::ranges::copy(results.of().ids(static_cast<size_t>(row), h), to);
        else // a padded row selects nothing, whatever its list says
          std::fill_n(to, shape.topK, i % 2 ? -1 : static_cast<int32_t>(i % 3));
      }
    }
    const bool least = batch.layout == Layout::Gapped;
    args.q = {arena.device<void>(arena.input("q", queries, {q.margins.lead, 0})), q.row, q.head};
    args.step_rows = arena.device<const nvfp4rt_step_row>(arena.input("step_rows", steps, {64, 0}));
    args.ids = arena.device<const int32_t>(arena.input("ids", ids, {least ? 4u : 64u, 0}));
    args.ids_row_stride = idsRow;
    args.ids_head_stride = idsHead;
    cache.setArgs(args);
    args.score_scale = shape.scoreScale;
    args.rows = static_cast<uint32_t>(rows);
  }

  bool isZero(int row, int64_t kvHead) {
    return row < 0 || results.of().selectsNothing(static_cast<size_t>(row), kvHead);
  }

  std::string rowText(int64_t i) {
    const int row = batch.rows[static_cast<size_t>(i)];
    if (row < 0)
      return fmt::format("row {} (padding)", i);
    const RowSpec &of = results.of().spec(static_cast<size_t>(row));
    return fmt::format("row {} ('{}', request {}, causal_len {})", i, of.name, of.request,
                       of.causalLen);
  }

  bool merge(const float *floats, uint64_t used) {
    const auto sibling = findSibling(job.manifest, kMerge, config.request);
    if (!sibling) {
      job.fault(fmt::format("{}: expected a {} in the bundle for a variant with a workspace, found "
                            "none",
                            where, kMerge));
      return false;
    }
    const std::string after = fmt::format("{} after {}", kMerge, where);
    Arena arena(job, after);
    const Arena::Buffer partial = arena.input("partial", floats, used, {64, 0});
    const Arena::Buffer buffer = arena.output("out", outBytes(), out.margins);
    nvfp4rt_sparse_attention_merge_args args{};
    args.partial = arena.device<const float>(partial);
    args.out = arena.device<void>(buffer);
    args.out_row_stride = out.row;
    args.out_head_stride = out.head;
    args.rows = static_cast<uint32_t>(rows);
    return arena.launch(*sibling->variant, sibling->request, args) &&
           compareOut(arena, buffer, after);
  }

  bool compareOut(Arena &arena, Arena::Buffer buffer, const std::string &launch) {
    const oracle::AttentionShape &shape = config.shape;
    const auto size = static_cast<uint64_t>(config.headBytes());
    const auto dims = static_cast<size_t>(shape.headDim);
    const double bound = oracle::attentionBound(shape.dtype);
    bool right = true;
    for (int64_t i = 0; i < rows; ++i) {
      const int row = batch.rows[static_cast<size_t>(i)];
      Results::Known *known = row < 0 ? nullptr : &results.at(static_cast<size_t>(row));
      const bool isNew = known && known->bits.empty();
      for (int64_t h = 0; h < config.qHeads(); ++h) {
        const auto offset = static_cast<uint64_t>(out.at(i, h));
        auto *expected = arena.expected<uint16_t>(buffer) + offset / 2;
        if (!isNew) {
          if (known)
            std::copy_n(known->bits.begin() + h * shape.headDim, dims, expected);
          else
            std::fill_n(expected, dims, 0);
          continue;
        }
        if (isZero(row, h / shape.groupHeads)) {
          std::fill_n(expected, dims, 0);
          continue;
        }
        arena.accept(buffer, offset, size);
        const std::vector<double> &all =
            results.of().reference(static_cast<size_t>(row), h / shape.groupHeads);
        const auto reference =
            std::span(all).subspan(static_cast<size_t>(h % shape.groupHeads) * dims, dims);
        const double error = oracle::relativeL2(reference, expected, shape.dtype);
        const bool within = error <= bound; // not when it is NaN
        job.report.worstError = std::max(job.report.worstError, within ? error / bound : kInfinity);
        if (within)
          continue;
        job.report.mismatchingBytes += size;
        if (std::exchange(right, false))
          arena.fault(fmt::format(
              "{} q head {} ({} query): expected a relative L2 of at most {:.3g}, found {:.3g}; "
              "element 0: expected {:.6g}, found {:.6g}; rules A1, A3, A6, P4, P5",
              rowText(i), h,
              kQueryNames[static_cast<size_t>(results.of().query(static_cast<size_t>(row), h))],
              bound, error, reference[0], oracle::value(expected[0], shape.dtype)));
      }
      if (!isNew)
        continue;
      known->where = launch;
      for (int64_t h = 0; h < config.qHeads(); ++h) {
        const auto *bits = arena.expected<uint16_t>(buffer) + out.at(i, h) / 2;
        known->bits.insert(known->bits.end(), bits, bits + dims);
      }
    }
    job.report.values += static_cast<uint64_t>(rows * config.qHeads() * shape.headDim);
    const bool same = arena.compare([&](Arena::Buffer at, uint64_t offset) {
      return at == buffer ? outText(arena, buffer, offset) : std::string();
    });
    if (!same)
      job.report.worstError = kInfinity;
    return same && right;
  }

  /// Words for a byte of the output; none where it is no element's.
  std::string outText(const Arena &arena, Arena::Buffer buffer, uint64_t offset) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t h = 0; h < config.qHeads(); ++h) {
        const auto begin = static_cast<uint64_t>(out.at(i, h));
        if (offset < begin || offset >= begin + static_cast<uint64_t>(config.headBytes()))
          continue;
        const int row = batch.rows[static_cast<size_t>(i)];
        const double found =
            oracle::value(arena.found<uint16_t>(buffer, offset / 2 * 2), config.shape.dtype);
        if (isZero(row, h / config.shape.groupHeads))
          return fmt::format("{} q head {}: nothing is selected, expected +0, found {:.6g}; rules "
                             "A2, P4",
                             rowText(i), h, found);
        const Results::Known &known = results.at(static_cast<size_t>(row));
        std::vector<uint16_t> bits;
        for (int64_t d = 0; d < config.shape.headDim; ++d)
          bits.push_back(arena.found<uint16_t>(buffer, begin + static_cast<uint64_t>(d) * 2));
        const auto dims = static_cast<size_t>(config.shape.headDim);
        return fmt::format(
            "{} q head {} element {}: expected the bits of {}, found others, {:.3g} away from "
            "float64 in relative L2; rules A4, P5",
            rowText(i), h, (offset - begin) / 2, known.where,
            oracle::relativeL2(
                std::span(
                    results.of().reference(static_cast<size_t>(row), h / config.shape.groupHeads))
                    .subspan(static_cast<size_t>(h % config.shape.groupHeads) * dims, dims),
                bits.data(), config.shape.dtype));
      }
    return {};
  }

  /// Every part: an empty one exactly, the others' acc / l against float64.
  bool compareParts(Arena &arena, const float *floats) {
    const oracle::AttentionShape &shape = config.shape;
    for (int64_t i = 0; i < rows; ++i) {
      const int row = batch.rows[static_cast<size_t>(i)];
      for (int64_t h = 0; h < shape.kvHeads; ++h) {
        // Parts of rows that were seen before are in the merge's bits.
        if (!isZero(row, h) && results.partsKnown(static_cast<size_t>(row)))
          continue;
        for (int64_t p = 0; p < config.parts(); ++p) {
          const float *part =
              floats + ((i * shape.kvHeads + h) * config.parts() + p) * config.partFloats();
          const std::vector<double> reference =
              row < 0 ? std::vector<double>()
                      : results.of().partReference(static_cast<size_t>(row), h, p);
          if (auto wrong = wrongPart(part, reference)) {
            arena.fault(fmt::format("partial result {} of {} kv head {}: {}; rules A1, A4", p,
                                    rowText(i), h, *wrong));
            job.report.worstError = kInfinity;
            return false;
          }
        }
      }
      if (row >= 0)
        results.partsKnown(static_cast<size_t>(row)) = true;
    }
    job.report.values += static_cast<uint64_t>(rows * shape.kvHeads * config.parts());
    return true;
  }

  std::optional<std::string> wrongPart(const float *part, const std::vector<double> &reference) {
    const oracle::AttentionShape &shape = config.shape;
    const float *maxima = part + Config::kPartHeads * shape.headDim;
    const float *sums = maxima + Config::kPartHeads;
    const bool empty = std::ranges::all_of(reference, [](double element) { return element == 0; });
    for (int64_t j = 0; j < shape.groupHeads; ++j) {
      const float m = maxima[j], l = sums[j];
      const float *acc = part + j * shape.headDim;
      double error = 0, norm = 0;
      bool zero = true;
      for (int64_t d = 0; d < shape.headDim; ++d) {
        zero &= acc[d] == 0;
        if (empty)
          continue;
        const double wanted = reference[static_cast<size_t>(j * shape.headDim + d)];
        error += std::pow(double{acc[d]} / double{l} - wanted, 2);
        norm += wanted * wanted;
      }
      if (empty && (m != -std::numeric_limits<float>::infinity() || l != 0 || !zero))
        return fmt::format("q head {} of the group: nothing is selected, expected m -inf, l 0 and "
                           "acc 0, found m {} l {} acc {}",
                           j, m, l, zero ? "0" : "not 0");
      if (empty)
        continue;
      // Parts are not rounded to the model dtype: the bound without that.
      const double share = std::sqrt(error / norm);
      const double bound = oracle::attentionBound(oracle::DType::FP16);
      if (!std::isfinite(m) || !(l > 0) || !(share <= bound))
        return fmt::format("q head {} of the group: expected acc / l within {:.3g} in relative L2, "
                           "found {:.3g} with m {} l {}",
                           j, bound, share, m, l);
    }
    return std::nullopt;
  }
};

} // namespace

std::vector<Launchee> relatives(const Job &job, const Config &config) {
  std::vector<Launchee> result;
  for (const nvfp4rt::Variant &variant : job.manifest.variants) {
    if (variant.family != kFamily)
      continue;
    nvfp4rt::Request request;
    bool alike = true;
    for (const nvfp4rt::Term &term : variant.guard.terms) {
      const int64_t value = isBucketField(term.field)
                                ? term.values[0]
                                : config.request.get(term.field).value_or(term.values[0]);
      alike = alike && term.holds(value);
      request.set(term.field, value);
    }
    if (!alike)
      continue;
    if (auto read = readConfig(request, Reader::Attention))
      result.push_back({&variant, std::move(*read)});
  }
  return result;
}

std::optional<Launchee> relativeFor(const Job &job, const Config &config, int64_t requests) {
  nvfp4rt::Request request = config.request;
  request.set(Field::requests, requests);
  const auto sibling = findSibling(job.manifest, kFamily, request);
  if (!sibling)
    return std::nullopt;
  auto read = readConfig(sibling->request, Reader::Attention);
  if (!read)
    return std::nullopt;
  return Launchee{sibling->variant, std::move(*read)};
}

RowStrides rowStrides(const Config &config, RowsOf of, int64_t rows, Layout layout) {
  RowStrides strides;
  strides.head = config.headBytes();
  strides.row = config.qHeads() * strides.head;
  switch (layout) {
  case Layout::Dense:
    break;
  case Layout::Gapped:
    strides.head += 16;
    strides.row = config.qHeads() * strides.head + 48;
    strides.margins.lead = 16;
    break;
  case Layout::Interleaved:
    if (of == RowsOf::Q) {
      strides.row += 1024; // a packed row
    } else {
      strides.row = strides.head;
      strides.head = rows * strides.row + 16;
    }
    break;
  }
  return strides;
}

bool runBatch(Job &job, const Launchee &launchee, PlacedCache &cache, Results &results,
              const Batch &batch) {
  return BatchRun(job, launchee, cache, results, batch).run();
}

} // namespace verify::attention
