//===- decode_step.cpp - a decode step as a serving stack runs it -----------===//
//
// One layer, up to four requests: store the new token's K, V and index key, map the
// step's rows, choose blocks, attend to them. Captured once, then replayed with other
// lengths, tokens and live requests; every result is compared with Plain.h.
//
//   decode_step BUNDLE     on the HIP library it is linked with
//
//===------------------------------------------------------------------------===//
#include "Plain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <hip/hip_runtime_api.h>
#include <nvfp4rt.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kDevice = 0;
constexpr std::uint32_t kWorkers = 8; // workgroups of the index scorer; about the CUs of a GPU

void hip(hipError_t error) {
  if (error != hipSuccess)
    throw std::runtime_error(std::string("HIP: ") + hipGetErrorString(error));
}

/// `count` elements of device memory, zeroed.
template <typename T> class Device {
public:
  explicit Device(std::size_t count) : bytes(count * sizeof(T)) {
    hip(hipMalloc(&memory, std::max<std::size_t>(bytes, 1)));
    hip(hipMemset(memory, 0, bytes));
  }
  explicit Device(const std::vector<T> &host) : Device(host.size()) { put(host); }
  Device(const Device &) = delete;
  ~Device() { (void)hipFree(memory); }
  T *get() const { return static_cast<T *>(memory); }
  void put(const std::vector<T> &host) {
    hip(hipMemcpy(memory, host.data(), bytes, hipMemcpyHostToDevice));
  }
  std::vector<T> read() const {
    std::vector<T> host(bytes / sizeof(T));
    hip(hipMemcpy(host.data(), memory, bytes, hipMemcpyDeviceToHost));
    return host;
  }

private:
  void *memory = nullptr;
  std::size_t bytes;
};

/// The planes of one tensor of the cache.
struct Pool {
  Device<std::uint8_t> payloadBytes{kPages * kPage * kDim / 2};
  Device<std::uint8_t> scaleBytes{kPages * kPage * kDim / 16};
  nvfp4rt_plane payload() const {
    return {payloadBytes.get(), kPage * kDim / 2, kDim / 2, kDim / 2};
  }
  nvfp4rt_plane scale() const {
    return {scaleBytes.get(), kPage * kDim / 16, kDim / 16, kDim / 16};
  }
  Tensor read() const { return {payloadBytes.read(), scaleBytes.read()}; }
};

/// Rows of random multiples of 1/64 in [-2, 2), in bf16.
std::vector<std::uint16_t> randomRows(std::mt19937 &random, std::size_t rows) {
  std::vector<std::uint16_t> values(rows * kDim);
  for (std::uint16_t &value : values)
    value = toBf16((static_cast<float>(random() % 256) - 128) / 64);
  return values;
}

/// bf16 rows of `heads` heads without gaps.
nvfp4rt_rows rowsAt(const Device<std::uint16_t> &memory, std::size_t heads) {
  return {memory.get(), static_cast<std::int64_t>(heads * kDim * 2), kDim * 2};
}

/// The step: its memory, its launches and what they have to give.
class DecodeStep {
public:
  explicit DecodeStep(const nvfp4::Bundle &bundle) : bundle(bundle) {
    std::vector<std::int32_t> pages(kRequests * kMaxBlocks);
    for (std::size_t i = 0; i < pages.size(); ++i)
      pages[i] = static_cast<std::int32_t>(pageOf(i / kMaxBlocks, i % kMaxBlocks));
    table.put(pages);
  }

  void prefill(const std::vector<std::int32_t> &prompts);
  void capture();
  void replay(const std::vector<std::int32_t> &lengths, std::int32_t live);

private:
  nvfp4rt_kv_store_args storeArgs(const Device<std::uint16_t> &k, const Device<std::uint16_t> &v,
                                  const Device<std::uint16_t> &indexK,
                                  const Device<std::int64_t> &slots, std::size_t rows) const;

  // Every request names all that the family's kernels were specialized for.
  const nvfp4::Fields decodeFields = {
      {"phase", "decode"}, {"query_len", 1}, {"requests", kRequests}};
  const nvfp4::Fields prefillFields = {
      {"phase", "prefill"}, {"query_len", 0}, {"requests", kRequests}};
  const nvfp4::Fields writerFields = {{"dtype", "bf16"},        {"kv_format", "nvfp4"},
                                      {"planes", "kvi"},        {"index_format", "nvfp4"},
                                      {"kv_heads", 1},          {"head_dim", kDim},
                                      {"index_head_dim", kDim}, {"page_size", kPage}};
  const nvfp4::Fields mergeFields = {{"index_heads", 1}, {"top_k", kTopK}};
  const nvfp4::Fields scorerFields = mergeFields + nvfp4::Fields{{"dtype", "bf16"},
                                                                 {"index_format", "nvfp4"},
                                                                 {"index_head_dim", kDim},
                                                                 {"block_size", kPage},
                                                                 {"page_size", kPage}};
  const nvfp4::Fields attentionMergeFields = {
      {"dtype", "bf16"},  {"kv_format", "nvfp4"}, {"q_heads", kHeads}, {"kv_heads", 1},
      {"head_dim", kDim}, {"block_size", kPage},  {"top_k", kTopK}};
  const nvfp4::Fields attentionFields = attentionMergeFields + nvfp4::Fields{{"page_size", kPage}};

  const nvfp4::Bundle &bundle;
  std::mt19937 random{1};
  Pool k, v, index;
  Device<std::int32_t> table{kRequests * kMaxBlocks};
  // What changes from step to step.
  Device<std::int32_t> lengths{kRequests}, live{1};
  Device<std::int64_t> slots{kRequests};
  Device<std::uint16_t> newK{kRequests * kDim}, newV{kRequests * kDim}, newIndexK{kRequests * kDim};
  Device<std::uint16_t> q{kRequests * kHeads * kDim}, indexQ{kRequests * kDim};
  // What the kernels of a step hand on, and give.
  Device<nvfp4rt_step_row> stepRows{kRequests};
  Device<nvfp4rt_segment> segments{kRequests};
  Device<nvfp4rt_work> work{kWorkers + 1};
  Device<std::uint64_t> lists{(kWorkers + kRequests) * kTopK};
  Device<std::int32_t> ids{kRequests * kTopK};
  Device<std::uint16_t> out{kRequests * kHeads * kDim};

  struct Graph {
    hipStream_t stream = nullptr;
    hipGraph_t graph = nullptr;
    hipGraphExec_t executable = nullptr;
    Device<std::uint8_t> workspace;
    explicit Graph(std::size_t bytes) : workspace(bytes) { hip(hipStreamCreate(&stream)); }
    ~Graph() {
      (void)hipGraphExecDestroy(executable);
      (void)hipGraphDestroy(graph);
      (void)hipStreamDestroy(stream);
    }
  };
  std::unique_ptr<Graph> captured;
};

nvfp4rt_kv_store_args DecodeStep::storeArgs(const Device<std::uint16_t> &fromK,
                                            const Device<std::uint16_t> &fromV,
                                            const Device<std::uint16_t> &fromIndexK,
                                            const Device<std::int64_t> &at,
                                            std::size_t rows) const {
  nvfp4rt_kv_store_args args{};
  args.k = rowsAt(fromK, 1);
  args.v = rowsAt(fromV, 1);
  args.index_k = rowsAt(fromIndexK, 1);
  args.k_payload = k.payload();
  args.k_scale = k.scale();
  args.v_payload = v.payload();
  args.v_scale = v.scale();
  args.index_payload = index.payload();
  args.index_scale = index.scale();
  args.slots = at.get();
  args.index_slots = at.get();
  args.pages = kPages;
  args.index_pages = kPages;
  args.rows = static_cast<std::uint32_t>(rows);
  return args;
}

/// Fill the cache with prompts of random tokens, all in one launch.
void DecodeStep::prefill(const std::vector<std::int32_t> &prompts) {
  std::vector<std::int64_t> at;
  for (std::size_t r = 0; r < prompts.size(); ++r)
    for (std::int32_t t = 0; t < prompts[r]; ++t)
      at.push_back(static_cast<std::int64_t>(slotOf(r, static_cast<std::size_t>(t))));
  const Device<std::uint16_t> rowsK(randomRows(random, at.size()));
  const Device<std::uint16_t> rowsV(randomRows(random, at.size()));
  const Device<std::uint16_t> rowsIndexK(randomRows(random, at.size()));
  const Device<std::int64_t> atSlots(at);
  bundle.plan<nvfp4rt_kv_store_args>(prefillFields + writerFields, kDevice)
      .launch(storeArgs(rowsK, rowsV, rowsIndexK, atSlots, at.size()));
  hip(hipDeviceSynchronize());
  std::printf("prefill: %zu tokens stored\n", at.size());
}

void DecodeStep::capture() {
  const auto store = bundle.plan<nvfp4rt_kv_store_args>(decodeFields + writerFields, kDevice);
  const auto map = bundle.plan<nvfp4rt_step_map_args>(
      decodeFields + nvfp4::Fields{{"block_size", kPage}}, kDevice);
  const auto topk = bundle.plan<nvfp4rt_index_topk_args>(decodeFields + scorerFields, kDevice);
  const auto merge =
      bundle.plan<nvfp4rt_index_topk_merge_args>(decodeFields + mergeFields, kDevice);
  const auto attention =
      bundle.plan<nvfp4rt_sparse_attention_args>(decodeFields + attentionFields, kDevice);
  captured = std::make_unique<Graph>(attention.workspace_bytes());

  nvfp4rt_step_map_args mapArgs{};
  mapArgs.seq_lens = lengths.get();
  mapArgs.live_requests = live.get();
  mapArgs.step_rows = stepRows.get();
  mapArgs.segments = segments.get();
  mapArgs.work = work.get();
  mapArgs.rows = kRequests;
  mapArgs.requests = kRequests;
  mapArgs.workers = kWorkers;

  nvfp4rt_index_topk_args topkArgs{};
  topkArgs.index_q = rowsAt(indexQ, 1);
  topkArgs.index_payload = index.payload();
  topkArgs.index_scale = index.scale();
  topkArgs.block_table = table.get();
  topkArgs.table_stride = kMaxBlocks * sizeof(std::int32_t);
  topkArgs.step_rows = stepRows.get();
  topkArgs.segments = segments.get();
  topkArgs.work = work.get();
  topkArgs.partial = lists.get();
  topkArgs.index_pages = kPages;
  topkArgs.score_scale = kScale;
  topkArgs.workers = kWorkers;
  topkArgs.local_blocks = 1;

  nvfp4rt_index_topk_merge_args mergeArgs{};
  mergeArgs.partial = lists.get();
  mergeArgs.step_rows = stepRows.get();
  mergeArgs.segments = segments.get();
  mergeArgs.ids = ids.get();
  mergeArgs.ids_row_stride = kTopK * sizeof(std::int32_t);
  mergeArgs.ids_head_stride = kTopK * sizeof(std::int32_t);
  mergeArgs.rows = kRequests;

  nvfp4rt_sparse_attention_args attentionArgs{};
  attentionArgs.q = rowsAt(q, kHeads);
  attentionArgs.k_payload = k.payload();
  attentionArgs.k_scale = k.scale();
  attentionArgs.v_payload = v.payload();
  attentionArgs.v_scale = v.scale();
  attentionArgs.block_table = table.get();
  attentionArgs.table_stride = topkArgs.table_stride;
  attentionArgs.step_rows = stepRows.get();
  attentionArgs.ids = ids.get();
  attentionArgs.ids_row_stride = mergeArgs.ids_row_stride;
  attentionArgs.ids_head_stride = mergeArgs.ids_head_stride;
  attentionArgs.out = out.get();
  attentionArgs.out_row_stride = kHeads * kDim * 2;
  attentionArgs.out_head_stride = kDim * 2;
  attentionArgs.partial = reinterpret_cast<float *>(captured->workspace.get());
  attentionArgs.pages = kPages;
  attentionArgs.score_scale = kScale;
  attentionArgs.rows = kRequests;

  const hipStream_t stream = captured->stream;
  hip(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  store.launch(storeArgs(newK, newV, newIndexK, slots, kRequests), stream);
  map.launch(mapArgs, stream);
  topk.launch(topkArgs, stream);
  merge.launch(mergeArgs, stream);
  attention.launch(attentionArgs, stream);
  std::printf("captured:\n  %s\n  %s\n  %s\n  %s\n  %s\n", store.variant(), map.variant(),
              topk.variant(), merge.variant(), attention.variant());
  if (attention.workspace_bytes() > 0) { // it has left parts: this finishes them
    const auto finish = bundle.plan<nvfp4rt_sparse_attention_merge_args>(
        decodeFields + attentionMergeFields, kDevice);
    nvfp4rt_sparse_attention_merge_args finishArgs{};
    finishArgs.partial = attentionArgs.partial;
    finishArgs.out = attentionArgs.out;
    finishArgs.out_row_stride = attentionArgs.out_row_stride;
    finishArgs.out_head_stride = attentionArgs.out_head_stride;
    finishArgs.rows = kRequests;
    finish.launch(finishArgs, stream);
    std::printf("  %s\n", finish.variant());
  }
  hip(hipStreamEndCapture(stream, &captured->graph));
  hip(hipGraphInstantiate(&captured->executable, captured->graph, nullptr, nullptr, 0));
}

/// Whether the cache has row `r` of `rows` at a position, to within half of the widest gap between
/// codes: from 4 to 6 times the scale, which is at most a 6th of 2 and rounded.
bool isStored(const Tensor &cache, std::size_t r, std::size_t position,
              const std::vector<std::uint16_t> &rows) {
  for (std::size_t d = 0; d < kDim; ++d)
    if (std::abs(cache.at(slotOf(r, position), d) - fromBf16(rows[r * kDim + d])) > 0.36f)
      return false;
  return true;
}

/// A step with one new token a request, `lengths` counting it; requests from `live` on are padding.
void DecodeStep::replay(const std::vector<std::int32_t> &seqLens, std::int32_t liveRequests) {
  std::vector<std::int64_t> at(kRequests, -1); // a padded row stores nothing
  for (std::size_t r = 0; r < static_cast<std::size_t>(liveRequests); ++r)
    at[r] = static_cast<std::int64_t>(slotOf(r, static_cast<std::size_t>(seqLens[r] - 1)));
  const std::vector<std::uint16_t> rowK = randomRows(random, kRequests);
  const std::vector<std::uint16_t> rowV = randomRows(random, kRequests);
  const std::vector<std::uint16_t> rowIndexK = randomRows(random, kRequests);
  const std::vector<std::uint16_t> queries = randomRows(random, kRequests * kHeads);
  const std::vector<std::uint16_t> indexQueries = randomRows(random, kRequests);
  newK.put(rowK);
  newV.put(rowV);
  newIndexK.put(rowIndexK);
  q.put(queries);
  indexQ.put(indexQueries);
  slots.put(at);
  lengths.put(seqLens);
  live.put({liveRequests});

  hip(hipGraphLaunch(captured->executable, captured->stream));
  hip(hipStreamSynchronize(captured->stream));

  const Tensor cacheK = k.read(), cacheV = v.read(), cacheIndex = index.read();
  const std::vector<std::int32_t> gotIds = ids.read();
  const std::vector<std::uint16_t> got = out.read();
  double worst = 0;
  for (std::size_t r = 0; r < kRequests; ++r) {
    const bool padded = r >= static_cast<std::size_t>(liveRequests);
    const auto length = padded ? 0 : static_cast<std::size_t>(seqLens[r]);
    if (!padded &&
        !(isStored(cacheK, r, length - 1, rowK) && isStored(cacheV, r, length - 1, rowV) &&
          isStored(cacheIndex, r, length - 1, rowIndexK)))
      throw std::runtime_error("request " + std::to_string(r) + ": its new token was not stored");
    const std::vector<std::int32_t> want =
        selectBlocks(cacheIndex, r, length, &indexQueries[r * kDim]);
    if (!std::equal(want.begin(), want.end(), &gotIds[r * kTopK]))
      throw std::runtime_error("request " + std::to_string(r) + ": other blocks were chosen");
    for (std::size_t h = 0; h < kHeads; ++h) {
      const std::size_t head = (r * kHeads + h) * kDim;
      const std::vector<double> plain =
          attend(cacheK, cacheV, r, length, want.data(), &queries[head]);
      double error = 0, size = 0;
      for (std::size_t d = 0; d < kDim; ++d) {
        error += std::pow(plain[d] - fromBf16(got[head + d]), 2);
        size += plain[d] * plain[d];
      }
      worst = std::max(worst, size > 0 ? std::sqrt(error / size) : error);
    }
  }
  std::printf("step: lengths");
  for (std::int32_t length : seqLens)
    std::printf(" %d", length);
  std::printf(", %d live: %zu block ids right, attention within %.2g (bound 4e-3)\n", liveRequests,
              gotIds.size(), worst);
  if (!(worst <= 4e-3))
    throw std::runtime_error("attention is further from the plain computation than its bound");
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: decode_step BUNDLE\n");
    return 2;
  }
  try {
    nvfp4::Bundle bundle = nvfp4::Bundle::open_file(argv[1]);
    bundle.load(kDevice);
    bundle.freeze();
    DecodeStep step(bundle);
    step.prefill({1500, 1200, 129, 0});
    step.capture();
    step.replay({1501, 1201, 130, 1}, 4);
    step.replay({1502, 1202, 131, 2}, 4);
    step.replay({1503, 1203, 132, 3}, 3); // the last request has ended
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "decode_step: %s\n", error.what());
    return 1;
  }
}
