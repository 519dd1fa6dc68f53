//===- CaptureStepTest.cpp - a step as a captured graph ---------------------===//
//
// Rules S2, G3, G6: step_map, index_topk, sparse_attention and their merges are captured
// once and replayed with other lengths and live counts. After each replay the ids must
// be the oracle's (K2..K4) and the output within A6 of it; every buffer between the
// kernels is poisoned before it.
//
//===------------------------------------------------------------------------===//
#include "compiler/bundle/Build.h"
#include "compiler/support/AtomicFile.h"
#include "runtime/bundle/Bundle.h"
#include "runtime/include/nvfp4rt.h"
#include "tests/SpecFixture.h"
#include "tests/oracle/IndexCase.h"
#include "tools/oracle/Attention.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>
#include <unistd.h>

namespace nvfp4gen {
namespace {

using oracle::IndexCase;

constexpr unsigned char kPoison = 0xA5;

/// Device memory, at first a copy of host memory.
class Buffer {
public:
  template <typename T>
  explicit Buffer(const std::vector<T> &host) : size(host.size() * sizeof(T)) {
    EXPECT_EQ(hipMalloc(&address, std::max<size_t>(size, 1)), hipSuccess);
    put(host);
  }
  Buffer(const Buffer &) = delete;
  ~Buffer() { EXPECT_EQ(hipFree(address), hipSuccess); }

  template <typename T> void put(const std::vector<T> &host) {
    EXPECT_EQ(host.size() * sizeof(T), size);
    if (size)
      EXPECT_EQ(hipMemcpy(address, host.data(), size, hipMemcpyHostToDevice), hipSuccess);
  }
  template <typename T> std::vector<T> get() const {
    std::vector<T> host(size / sizeof(T));
    EXPECT_EQ(hipMemcpy(host.data(), address, size, hipMemcpyDeviceToHost), hipSuccess);
    return host;
  }
  void poison() { EXPECT_EQ(hipMemset(address, kPoison, size), hipSuccess); }
  template <typename T> T *as() const { return static_cast<T *>(address); }

private:
  void *address = nullptr;
  size_t size;
};

/// The plan of the variant `family`...__`cell`, asked for by the values of its own guard.
class Plan {
public:
  Plan(nvfp4rt_bundle *bundle, const nvfp4rt::Manifest &manifest, const std::string &family,
       const std::string &cell) {
    for (const nvfp4rt::Variant &variant : manifest.variants) {
      if (variant.family != family || !llvm::StringRef(variant.name).ends_with("__" + cell))
        continue;
      std::vector<std::pair<std::string, std::string>> texts;
      std::vector<nvfp4rt_field> fields;
      for (const nvfp4rt::Term &term : variant.guard.terms)
        texts.emplace_back(nvfp4rt::fieldName(term.field),
                           nvfp4rt::fieldSymbols(term.field).empty()
                               ? std::string()
                               : nvfp4rt::valueText(term.field, term.values.back()));
      for (auto [term, text] : llvm::zip_equal(variant.guard.terms, texts))
        fields.push_back({text.first.c_str(), text.second.empty() ? nullptr : text.second.c_str(),
                          text.second.empty() ? term.values.back() : 0});
      EXPECT_EQ(nvfp4rt_plan_create(bundle, 0, family.c_str(), fields.data(), fields.size(), &plan),
                NVFP4RT_OK)
          << nvfp4rt_last_error();
      return;
    }
    ADD_FAILURE() << "no variant of " << family << " serves " << cell;
  }
  ~Plan() { nvfp4rt_plan_destroy(plan); }
  Plan(const Plan &) = delete;

  size_t workspaceBytes() const { return nvfp4rt_plan_workspace_bytes(plan); }
  template <typename Args> void launch(const Args &args, hipStream_t stream) const {
    EXPECT_EQ(nvfp4rt_launch(plan, &args, stream), NVFP4RT_OK) << nvfp4rt_last_error();
  }

private:
  nvfp4rt_plan *plan = nullptr;
};

/// What a replay changes; the rows of the launch stay.
struct Step {
  std::vector<int32_t> lengths, cumulativeQueries;
  int32_t live;
};

/// K and V of a step, behind the block table of its index keys, and its queries; tiny.toml's heads.
struct Attended {
  static constexpr int64_t kKvHeads = 2, kGroupHeads = 8, kHeads = kKvHeads * kGroupHeads;
  oracle::AttentionShape shape;
  std::vector<uint8_t> kPayload, kScale, vPayload, vScale;
  std::vector<uint16_t> q;

  explicit Attended(const IndexCase &c) {
    shape.kvHeads = kKvHeads;
    shape.groupHeads = kGroupHeads;
    shape.scoreScale = 0.08838834764831845f * 1.4426950409f;
    const size_t tokens = size_t(c.pages * c.shape.pageSize * kKvHeads);
    kPayload = oracle::exactPayload(tokens * 64, 21);
    kScale = oracle::exactScales(tokens * 8, 22);
    vPayload = oracle::exactPayload(tokens * 64, 23);
    vScale = oracle::exactScales(tokens * 8, 24);
    q = oracle::exactQueries(shape.dtype, size_t(c.rows * kHeads * 128), 25);
  }
  static nvfp4rt_plane plane(const IndexCase &c, const void *base, int64_t rowBytes) {
    return {const_cast<void *>(base), c.shape.pageSize * kKvHeads * rowBytes, kKvHeads * rowBytes,
            rowBytes};
  }
  static nvfp4rt_rows rows(const void *base) { return {base, kHeads * 256, 256}; }
  oracle::AttentionInputs inputs(const IndexCase &c, const std::vector<int32_t> &ids) const {
    oracle::AttentionInputs in;
    in.q = rows(q.data());
    in.k = {plane(c, kPayload.data(), 64),
            plane(c, kScale.data(), 8),
            c.pages,
            c.shape.pageSize,
            c.table.data(),
            c.tableWidth * 4};
    in.v = in.k;
    in.v.payload.base = const_cast<uint8_t *>(vPayload.data());
    in.v.scale.base = const_cast<uint8_t *>(vScale.data());
    in.stepRows = c.stepRows.data();
    in.ids = ids.data();
    in.idsHeadStride = shape.topK * 4;
    in.idsRowStride = kKvHeads * in.idsHeadStride;
    return in;
  }
};

class CapturedStep : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(setenv("NVFP4RT_HIP_LIBRARY", EMULATOR_LIBRARY, 1), 0);
    Spec spec = test::specOf("tiny");
    llvm::Expected<Bundle> built = buildBundle(spec, test::variantsOf(spec), {1, {}});
    ASSERT_TRUE(bool(built)) << llvm::toString(built.takeError());
    manifest = built->manifest;
    ASSERT_EQ(nvfp4rt_bundle_open_memory(built->bytes.data(), built->bytes.size(), &bundle),
              NVFP4RT_OK)
        << nvfp4rt_last_error();
    ASSERT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_OK) << nvfp4rt_last_error();
    ASSERT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
  }
  void TearDown() override { EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK); }

  void captureAndReplay(IndexCase c, const std::string &cell, const std::vector<Step> &steps);

  nvfp4rt::Manifest manifest;
  nvfp4rt_bundle *bundle = nullptr;
};

void CapturedStep::captureAndReplay(IndexCase c, const std::string &cell,
                                    const std::vector<Step> &steps) {
  c.map();
  c.fill(/*seed=*/7);
  std::vector<int32_t> expected;
  c.lists(expected);
  Buffer lengths(c.seqLens), queries(c.cuSeqlens), live(std::vector<int32_t>{c.live});
  Buffer stepRows(c.stepRows), segments(c.segments), work(c.work), partial(c.partial);
  Buffer table(c.table), payload(c.payload), scale(c.scale), q(c.q), ids(expected);

  nvfp4rt_step_map_args map{};
  map.seq_lens = lengths.as<int32_t>();
  map.cu_seqlens_q = queries.as<int32_t>();
  map.live_requests = live.as<int32_t>();
  map.step_rows = stepRows.as<nvfp4rt_step_row>();
  map.segments = segments.as<nvfp4rt_segment>();
  map.work = work.as<nvfp4rt_work>();
  map.rows = c.rows;
  map.requests = uint32_t(c.seqLens.size());
  map.workers = c.workers;
  nvfp4rt_index_topk_args topk = c.indexTopkArgs();
  topk.index_q.base = q.as<void>();
  topk.index_payload.base = payload.as<void>();
  topk.index_scale.base = scale.as<void>();
  topk.block_table = table.as<int32_t>();
  topk.step_rows = map.step_rows;
  topk.segments = map.segments;
  topk.work = map.work;
  topk.partial = partial.as<uint64_t>();
  nvfp4rt_index_topk_merge_args merge = c.mergeArgs(expected);
  merge.partial = topk.partial;
  merge.step_rows = map.step_rows;
  merge.segments = map.segments;
  merge.ids = ids.as<int32_t>();

  const Attended attended(c);
  Buffer kPayload(attended.kPayload), kScale(attended.kScale), vPayload(attended.vPayload),
      vScale(attended.vScale), attentionQ(attended.q), out(attended.q);
  const Plan attentionPlan(bundle, manifest, "sparse_attention", cell);
  const Plan joinPlan(bundle, manifest, "sparse_attention_merge", cell);
  Buffer parts(std::vector<uint8_t>(attentionPlan.workspaceBytes()));
  nvfp4rt_sparse_attention_args attention{};
  attention.q = Attended::rows(attentionQ.as<void>());
  attention.k_payload = Attended::plane(c, kPayload.as<void>(), 64);
  attention.k_scale = Attended::plane(c, kScale.as<void>(), 8);
  attention.v_payload = Attended::plane(c, vPayload.as<void>(), 64);
  attention.v_scale = Attended::plane(c, vScale.as<void>(), 8);
  attention.block_table = topk.block_table;
  attention.table_stride = topk.table_stride;
  attention.step_rows = map.step_rows;
  attention.ids = merge.ids;
  attention.ids_row_stride = merge.ids_row_stride;
  attention.ids_head_stride = merge.ids_head_stride;
  attention.out = out.as<void>();
  attention.out_row_stride = attention.q.row_stride;
  attention.out_head_stride = attention.q.head_stride;
  attention.partial = parts.as<float>();
  attention.pages = c.pages;
  attention.score_scale = attended.shape.scoreScale;
  attention.rows = c.rows;
  nvfp4rt_sparse_attention_merge_args join{};
  join.partial = attention.partial;
  join.out = attention.out;
  join.out_row_stride = attention.out_row_stride;
  join.out_head_stride = attention.out_head_stride;
  join.rows = c.rows;

  const Plan mapPlan(bundle, manifest, "step_map", cell);
  const Plan topkPlan(bundle, manifest, "index_topk", cell);
  const Plan mergePlan(bundle, manifest, "index_topk_merge", cell);
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t executable;
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipSuccess);
  mapPlan.launch(map, stream);
  topkPlan.launch(topk, stream);
  mergePlan.launch(merge, stream);
  attentionPlan.launch(attention, stream);
  if (attentionPlan.workspaceBytes() > 0)
    joinPlan.launch(join, stream);
  ASSERT_EQ(hipStreamEndCapture(stream, &graph), hipSuccess);
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);

  for (const Step &step : steps) {
    SCOPED_TRACE(testing::PrintToString(step.lengths) + ", live " + std::to_string(step.live));
    c.seqLens = step.lengths;
    c.cuSeqlens = step.cumulativeQueries;
    c.live = step.live;
    lengths.put(c.seqLens);
    queries.put(c.cuSeqlens);
    live.put(std::vector<int32_t>{c.live});
    for (Buffer *between : {&stepRows, &segments, &work, &partial, &ids, &parts, &out})
      between->poison();
    ASSERT_EQ(hipGraphLaunch(executable, stream), hipSuccess);
    ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
    c.map();
    ASSERT_TRUE(oracle::selectBlocks(c.shape, c.indexTopkArgs(), c.lists(expected)));
    EXPECT_EQ(ids.get<int32_t>(), expected);
    const std::vector<uint16_t> got = out.get<uint16_t>();
    const std::optional<std::string> fault = oracle::checkAttention(
        attended.shape, attended.inputs(c, expected), c.rows, Attended::rows(got.data()));
    EXPECT_FALSE(fault.has_value()) << fault.value_or("");
  }
  EXPECT_EQ(hipGraphExecDestroy(executable), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
}

TEST_F(CapturedStep, Decode) {
  captureAndReplay(
      IndexCase::dense(1, {4000, 300, 129, 1}, 7, 128, 2), "decode_q1_b4",
      {{{4000, 300, 129, 1}, {}, 4}, {{2049, 128, 0, 1}, {}, 4}, {{17, 299, 129, 1}, {}, 1}});
}

TEST_F(CapturedStep, Verify) {
  captureAndReplay(
      IndexCase::dense(2, {4000, 300, 129, 1}, 40, 128, 2), "verify_q2_b4",
      {{{4000, 300, 129, 1}, {}, 4}, {{1, 300, 0, 1}, {}, 3}, {{2300, 257, 128, 1}, {}, 0}});
}

TEST_F(CapturedStep, Prefill) {
  captureAndReplay(IndexCase::prefill({3000, 260, 129, 70}, {130, 7, 3, 70}, 7, 128, 2),
                   "prefill_b4",
                   {{{3000, 260, 129, 70}, {0, 130, 137, 140, 210}, 4},
                    {{200, 260, 0, 70}, {0, 64, 129, 129, 199}, 4},
                    {{2999, 128, 129, 70}, {0, 1, 129, 132, 200}, 2}});
}

} // namespace
} // namespace nvfp4gen
