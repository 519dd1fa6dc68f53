//===- StepMap.cpp - step_map: rows and work of a step (rules S1..S5, K4) ---===//
//
// Rules S1..S5, K4. Every workgroup sums up all requests in LDS (segments and blocks
// before each request); rows, segments and workers then follow independently of each
// other, by searches in these sums, so that no workgroup waits for another.
//
// A decode or verify request is one segment. A prefill request is cut into segments of
// NVFP4RT_PREFILL_SEGMENT_ROWS rows; the blocks of its first segments have a closed form.
//
//===------------------------------------------------------------------------===//

#include "compiler/variants/Variants.h"
#include "runtime/include/nvfp4rt_args.h"
#include "templates/index/BlockScorer.h"

#include "llvm/Support/MathExtras.h"

namespace nvfp4gen {

namespace {

using Vals = KernelBuilder::Vals;

constexpr int64_t kWorkgroup = 256, kWave = 64;

struct Params {
  bool prefill;
  int64_t queryLen; ///< decode and verify
  int64_t blockSize;
  int64_t maxRequests;
};

/// What the device says of a request.
struct Request {
  Val isLive;         ///< i1: live, and has tokens; the rows of others are padding (S2)
  Val firstRow, rows; ///< those that the step has
  Val prefix;         ///< causal_len of its first row, less one; may be negative
};

class StepMap {
public:
  StepMap(KernelBuilder &kb, const Params &params) : kb(kb), params(params) {}
  void run();

private:
  Val i32At(const char *array, Val index) {
    return kb.loadConstant(kb.i32Type(),
                           kb.offset(kb.arg(array), kb.zext(index, kb.i64Type()) << 2), 4);
  }
  Val blocksOf(Val tokens) {
    return lshr(tokens + (params.blockSize - 1), int64_t(llvm::Log2_64(params.blockSize)));
  }
  Request request(Val index);
  Val segmentsOf(const Request &request);
  Val firstBlocks(const Request &request, Val segments);
  /// Of a request's last row in the step; 0 when it has none there.
  Val lastCausal(const Request &request) {
    Val last = smax(request.prefix + request.rows, 0);
    return kb.select(slt(kb.i32(0), request.rows), last, kb.i32(0));
  }
  void sumRequests();
  Val sumAt(Val sums, Val index) { return kb.load(kb.i32Type(), kb.offset(sums, index << 2), 4); }
  Val search(Val count, llvm::function_ref<Val(Val)> atOrBefore);
  Val workerOf(Val block);
  void storeRow(Val row);
  void storeSegment(Val segment);
  void storeWork(Val index);
  Val divide(Val high, Val low) { return kb.trunc(udiv(high, low), kb.i32Type()); }

  KernelBuilder &kb;
  const Params &params;
  Val item, live, rows, requests, workers;
  Val segmentSums, blockSums; ///< LDS: [maxRequests + 1] exclusive sums
  Val segments, blocks;       ///< of the step
  Val busyWorkers;            ///< that have blocks; the first ones
};

Request StepMap::request(Val index) {
  Val length = i32At("seq_lens", index);
  Request result;
  Val queryLen = kb.i32(params.queryLen);
  result.firstRow = index * params.queryLen;
  if (params.prefill) {
    result.firstRow = i32At("cu_seqlens_q", index);
    queryLen = i32At("cu_seqlens_q", index + 1) - result.firstRow;
  }
  result.isLive = slt(index, live) & slt(kb.i32(0), length);
  // The step may end before the request does (S5).
  result.rows = smax(smin(rows - result.firstRow, queryLen), 0);
  result.prefix = length - queryLen;
  return result;
}

Val StepMap::segmentsOf(const Request &request) {
  return lshr(request.rows + (NVFP4RT_PREFILL_SEGMENT_ROWS - 1),
              int64_t(llvm::Log2_32(NVFP4RT_PREFILL_SEGMENT_ROWS)));
}

/// Blocks of the first `segments` segments of a prefill request. Segment i ends at causal length
/// e(i) = min(prefix + 64 (i + 1), prefix + rows) and has ceil(max(e(i), 0) / block) blocks.
Val StepMap::firstBlocks(const Request &request, Val segments) {
  constexpr int64_t kRows = NVFP4RT_PREFILL_SEGMENT_ROWS;
  const int64_t period = params.blockSize / kRows; // segments after which there is a block more
  // Segments that end before the first token have none; c is where the first other one ends.
  Val skipped = lshr(smax(kb.i32(0) - request.prefix, 0), int64_t(llvm::Log2_64(kRows)));
  Val first = request.prefix + skipped * kRows + kRows;
  Val whole = udiv(smax(request.rows, 0), kRows);
  Val count = smax(smin(segments, whole) - skipped, 0);
  Val sum = kb.i32(0);
  for (int64_t phase = 0; phase < period; ++phase) {
    // Segments phase, phase + period, ...: b, b + 1, ...
    Val n = udiv(count + (period - 1 - phase), period);
    Val b = blocksOf(first + phase * kRows);
    sum = sum + n * b + lshr(n * (n - 1), 1);
  }
  // The last segment may be shorter.
  Val end = blocksOf(smax(request.prefix + request.rows, 0));
  return sum + kb.select(slt(whole, segments), end, kb.i32(0));
}

/// Number of indices in [0, count) that `atOrBefore` holds for; it holds for the first so many.
Val StepMap::search(Val count, llvm::function_ref<Val(Val)> atOrBefore) {
  Vals bounds = kb.whileLoop(
      {kb.i32(0), count}, [&](llvm::ArrayRef<Val> range) { return slt(range[0], range[1]); },
      [&](llvm::ArrayRef<Val> range) -> Vals {
        Val middle = lshr(range[0] + range[1], 1);
        Val holds = atOrBefore(middle);
        return {kb.select(holds, middle + 1, range[0]), kb.select(holds, range[1], middle)};
      });
  return bounds[0];
}

void StepMap::sumRequests() {
  Val lane = item & (kWave - 1), wave = lshr(item, int64_t(llvm::Log2_64(kWave)));
  Val totals = kb.shared(2 * 4 * kWorkgroup / kWave);
  auto total = [&](Val wave, unsigned which) {
    return kb.offset(totals, (wave << 3) + int64_t(which * 4));
  };
  kb.ifThen(eq(item, 0), [&] {
    kb.store(kb.i32(0), segmentSums, 4);
    kb.store(kb.i32(0), blockSums, 4);
  });
  Vals sums = kb.loop(
      kb.i32(0), requests, kWorkgroup, {kb.i32(0), kb.i32(0)},
      [&](Val first, llvm::ArrayRef<Val> before) -> Vals {
        Val index = first + item;
        Vals counts = kb.ifElse(
            slt(index, live),
            [&]() -> Vals {
              Request r = request(index);
              Val found = params.prefill ? segmentsOf(r) : kb.i32(1);
              Val needed = params.prefill ? firstBlocks(r, found) : blocksOf(lastCausal(r));
              auto ofLive = [&](Val count) { return kb.select(r.isLive, count, kb.i32(0)); };
              return {params.prefill ? ofLive(found) : found, ofLive(needed)};
            },
            [&]() -> Vals {
              // Every request of decode and verify has a segment, padding included.
              Val one = kb.zext(slt(index, requests), kb.i32Type());
              return {params.prefill ? kb.i32(0) : one, kb.i32(0)};
            });
        // Inclusive sums over the lanes of a wave.
        for (int64_t distance = 1; distance < kWave; distance *= 2)
          for (Val &count : counts) {
            Val other = kb.shuffle(count, lane - distance);
            count = count + kb.select(slt(lane, distance), kb.i32(0), other);
          }
        kb.ifThen(eq(lane, kWave - 1), [&] {
          kb.store(counts[0], total(wave, 0), 4);
          kb.store(counts[1], total(wave, 1), 4);
        });
        kb.barrier();
        Vals after(before);
        Vals own(before);
        for (int64_t w = 0; w < kWorkgroup / kWave; ++w)
          for (unsigned which = 0; which < 2; ++which) {
            Val sum = kb.load(kb.i32Type(), total(kb.i32(w), which), 4);
            own[which] = own[which] + kb.select(slt(kb.i32(w), wave), sum, kb.i32(0));
            after[which] = after[which] + sum;
          }
        kb.ifThen(slt(index, requests), [&] {
          Val place = (index + 1) << 2;
          kb.store(own[0] + counts[0], kb.offset(segmentSums, place), 4);
          kb.store(own[1] + counts[1], kb.offset(blockSums, place), 4);
        });
        // The totals are written again in the next round.
        kb.barrier();
        return after;
      });
  kb.barrier();
  segments = sums[0];
  blocks = sums[1];
  busyWorkers = umin(workers, blocks);
}

/// The worker that has a block of the concatenated segments: the last w with w T / U <= block, U
/// the workers that have any.
Val StepMap::workerOf(Val block) {
  Val next = kb.zext(block + 1, kb.i64Type()) * kb.zext(busyWorkers, kb.i64Type());
  return divide(next - 1, kb.zext(blocks, kb.i64Type()));
}

void StepMap::storeRow(Val row) {
  Val r = params.prefill
              ? search(live, [&](Val i) { return sle(i32At("cu_seqlens_q", i + 1), row); })
              : udiv(row, params.queryLen);
  Request req = request(umin(r, requests - 1));
  Vals entry = kb.ifElse(
      req.isLive & slt(r, live),
      [&]() -> Vals {
        Val place = row - req.firstRow;
        Val causal = smax(req.prefix + place + 1, 0); // S1, S2
        if (!params.prefill)
          return {r, causal, r, place};
        constexpr int64_t kRows = NVFP4RT_PREFILL_SEGMENT_ROWS;
        return {r, causal, sumAt(segmentSums, r) + udiv(place, kRows), urem(place, kRows)};
      },
      [&]() -> Vals { return {kb.i32(-1), kb.i32(0), kb.i32(-1), kb.i32(0)}; });
  kb.store(kb.pack(entry), kb.offset(kb.arg("step_rows"), kb.zext(row, kb.i64Type()) << 4), 16);
}

void StepMap::storeSegment(Val segment) {
  Val r = params.prefill
              ? search(requests, [&](Val i) { return sle(sumAt(segmentSums, i + 1), segment); })
              : segment;
  Request req = request(r);
  Val place = kb.i32(0), count = req.rows, before = sumAt(blockSums, r);
  if (params.prefill) {
    constexpr int64_t kRows = NVFP4RT_PREFILL_SEGMENT_ROWS;
    Val tile = segment - sumAt(segmentSums, r);
    place = tile * kRows;
    count = smin(req.rows - place, kRows);
    before = before + firstBlocks(req, tile);
  }
  Val hasRows = req.isLive & slt(kb.i32(0), count);
  auto ofLive = [&](Val value) { return kb.select(hasRows, smax(value, 0), kb.i32(0)); };
  Val size = blocksOf(ofLive(req.prefix + place + count));
  Val least = ofLive(req.prefix + place + 1);
  Vals workersOf = kb.ifElse(
      slt(kb.i32(0), size),
      [&]() -> Vals {
        Val first = workerOf(before);
        return {first, workerOf(before + size - 1) - first + 1};
      },
      [&]() -> Vals { return {kb.i32(0), kb.i32(0)}; });
  Val address = kb.offset(kb.arg("segments"), kb.zext(segment, kb.i64Type()) << 5);
  kb.store(kb.pack({r, req.firstRow + place, count, size}), address, 4);
  kb.store(kb.pack({before, least, workersOf[0], workersOf[1]}), kb.offset(address, 16), 4);
}

void StepMap::storeWork(Val index) {
  Val all = kb.zext(blocks, kb.i64Type());
  Val flat = divide(kb.zext(umin(index, busyWorkers), kb.i64Type()) * all,
                    kb.zext(smax(busyWorkers, 1), kb.i64Type()));
  Vals entry = kb.ifElse(
      slt(flat, blocks),
      [&]() -> Vals {
        Val r = search(requests, [&](Val i) { return sle(sumAt(blockSums, i + 1), flat); });
        Val inRequest = flat - sumAt(blockSums, r);
        if (!params.prefill)
          return {r, inRequest};
        Request req = request(r);
        Val tile =
            search(segmentsOf(req), [&](Val i) { return sle(firstBlocks(req, i + 1), inRequest); });
        return {sumAt(segmentSums, r) + tile, inRequest - firstBlocks(req, tile)};
      },
      [&]() -> Vals { return {segments, kb.i32(0)}; });
  kb.store(kb.pack(entry), kb.offset(kb.arg("work"), kb.zext(index, kb.i64Type()) << 3), 8);
}

void StepMap::run() {
  item = kb.workitemId(0);
  rows = kb.arg("rows");
  requests = kb.arg("requests");
  workers = kb.arg("workers");
  live = smin(smax(kb.loadConstant(kb.i32Type(), kb.arg("live_requests"), 4), 0), requests);
  segmentSums = kb.shared(llvm::alignTo((params.maxRequests + 1) * 4, 16));
  blockSums = kb.shared(llvm::alignTo((params.maxRequests + 1) * 4, 16));
  sumRequests();

  Val first = kb.workgroupId(0) * kWorkgroup + item;
  // The grid has a work-item a row.
  Val stride = lshr(rows + (kWorkgroup - 1), int64_t(llvm::Log2_64(kWorkgroup))) * kWorkgroup;
  auto forEach = [&](Val count, void (StepMap::*store)(Val)) {
    kb.loop(first, count, stride, {}, [&](Val index, llvm::ArrayRef<Val>) {
      (this->*store)(index);
      return Vals();
    });
  };
  forEach(rows, &StepMap::storeRow);
  forEach(segments, &StepMap::storeSegment);
  forEach(workers + 1, &StepMap::storeWork);
}

std::optional<CellPlan> plan(const Spec &spec, const Cell &cell) {
  if (!index::hasScorer(spec))
    return std::nullopt;
  Params params{cell.phase == Phase::Prefill, cell.queryLen, spec.model.blockSize,
                spec.serving.requestBuckets.back()};
  CellPlan result;
  result.kernel.symbol = "step_map_";
  result.kernel.family = "step_map";
  specialize(result, spec, "b", nvfp4rt::Field::block_size);
  result.kernel.symbol += params.prefill ? "_prefill" : "_q" + std::to_string(params.queryLen);
  result.kernel.symbol += "_r" + std::to_string(params.maxRequests);
  result.kernel.block[0] = kWorkgroup;
  result.kernel.grid[0] = {"rows", 1, uint32_t(kWorkgroup)};
  result.kernel.emit = [params](KernelBuilder &kb) {
    assert(params.blockSize % NVFP4RT_PREFILL_SEGMENT_ROWS == 0);
    StepMap(kb, params).run();
  };
  return result;
}

} // namespace

extern const Family kStepMapFamily;
const Family kStepMapFamily{"step_map", plan};

} // namespace nvfp4gen
