//===- CaptureStepTest.cpp - choosing blocks as a captured graph ------------===//
//
// Rules S2, G3, G6: step_map, index_topk and its merge are captured once and replayed
// with other lengths and live counts. After each replay the ids must be the oracle's
// (K2..K4); every buffer between the kernels is poisoned before it.
//
//===------------------------------------------------------------------------===//
#include "compiler/bundle/Build.h"
#include "compiler/support/AtomicFile.h"
#include "runtime/bundle/Bundle.h"
#include "runtime/include/nvfp4rt.h"
#include "tests/SpecFixture.h"
#include "tests/oracle/IndexCase.h"

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

class CapturedSelection : public testing::Test {
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

void CapturedSelection::captureAndReplay(IndexCase c, const std::string &cell,
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
    for (Buffer *between : {&stepRows, &segments, &work, &partial, &ids})
      between->poison();
    ASSERT_EQ(hipGraphLaunch(executable, stream), hipSuccess);
    ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
    c.map();
    ASSERT_TRUE(oracle::selectBlocks(c.shape, c.indexTopkArgs(), c.lists(expected)));
    EXPECT_EQ(ids.get<int32_t>(), expected);
  }
  EXPECT_EQ(hipGraphExecDestroy(executable), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
}

TEST_F(CapturedSelection, Decode) {
  captureAndReplay(
      IndexCase::dense(1, {4000, 300, 129, 1}, 7, 128, 2), "decode_q1_b4",
      {{{4000, 300, 129, 1}, {}, 4}, {{2049, 128, 0, 1}, {}, 4}, {{17, 299, 129, 1}, {}, 1}});
}

TEST_F(CapturedSelection, Verify) {
  captureAndReplay(
      IndexCase::dense(2, {4000, 300, 129, 1}, 40, 128, 2), "verify_q2_b4",
      {{{4000, 300, 129, 1}, {}, 4}, {{1, 300, 0, 1}, {}, 3}, {{2300, 257, 128, 1}, {}, 0}});
}

TEST_F(CapturedSelection, Prefill) {
  captureAndReplay(IndexCase::prefill({3000, 260, 129, 70}, {130, 7, 3, 70}, 7, 128, 2),
                   "prefill_b4",
                   {{{3000, 260, 129, 70}, {0, 130, 137, 140, 210}, 4},
                    {{200, 260, 0, 70}, {0, 64, 129, 129, 199}, 4},
                    {{2999, 128, 129, 70}, {0, 1, 129, 132, 200}, 2}});
}

} // namespace
} // namespace nvfp4gen
