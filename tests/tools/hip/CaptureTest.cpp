//===- CaptureTest.cpp - stream capture and graphs --------------------------===//
//
// Each refusal comes with the state it leaves the capture in, and with a clean twin.
//
//===------------------------------------------------------------------------===//

#include "tests/tools/hip/HipClient.h"

#include <functional>
#include <thread>

namespace {

struct CaptureTest : HipClientTest {
  void SetUp() override {
    HipClientTest::SetUp();
    HIP_OK(hipStreamCreate(&stream));
    HIP_OK(hipStreamCreate(&other));
    HIP_OK(hipMalloc(reinterpret_cast<void **>(&data), bytes));
    HIP_OK(hipMemset(data, 0, bytes));
  }
  void TearDown() override {
    HIP_OK(hipStreamDestroy(stream));
    HIP_OK(hipStreamDestroy(other));
    HIP_OK(hipFree(data));
    HipClientTest::TearDown();
  }

  hipError_t add(unsigned delta, hipStream_t in) {
    return launch(kernel("add_constant"), {&data, const_cast<unsigned *>(&count), &delta}, in);
  }
  std::vector<unsigned> values() {
    std::vector<unsigned> out(count);
    EXPECT_EQ(hipMemcpy(out.data(), data, bytes, hipMemcpyDeviceToHost), hipSuccess);
    return out;
  }
  hipStreamCaptureStatus status(hipStream_t of) {
    hipStreamCaptureStatus result{};
    EXPECT_EQ(hipStreamIsCapturing(of, &result), hipSuccess);
    return result;
  }
  /// End the capture of `stream`, instantiate and drop the graph.
  hipGraphExec_t finish() {
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipSuccess);
    EXPECT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
    EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
    return exec;
  }
  /// `call` is refused with `code` while `stream` captures, and the capture is then lost.
  void refusedAndInvalidates(hipError_t code, const std::function<hipError_t()> &call,
                             hipStreamCaptureMode mode = hipStreamCaptureModeGlobal) {
    HIP_OK(hipStreamBeginCapture(stream, mode));
    EXPECT_EQ(call(), code);
    EXPECT_EQ(status(stream), hipStreamCaptureStatusInvalidated);
    EXPECT_EQ(add(1, stream), hipErrorStreamCaptureInvalidated);
    hipGraph_t graph = reinterpret_cast<hipGraph_t>(this);
    EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status(stream), hipStreamCaptureStatusNone);
    HIP_OK(add(0, stream));
  }
  /// `call` succeeds while `stream` captures, and the capture goes on.
  void allowed(const std::function<hipError_t()> &call,
               hipStreamCaptureMode mode = hipStreamCaptureModeGlobal) {
    HIP_OK(hipStreamBeginCapture(stream, mode));
    EXPECT_EQ(call(), hipSuccess);
    EXPECT_EQ(status(stream), hipStreamCaptureStatusActive);
    HIP_OK(hipGraphExecDestroy(finish()));
  }

  static constexpr unsigned count = 32;
  static constexpr size_t bytes = count * sizeof(unsigned);
  hipStream_t stream = nullptr, other = nullptr;
  unsigned *data = nullptr;
};

TEST_F(CaptureTest, RunsOnlyOnLaunchAndReadsBuffersThen) {
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  unsigned delta = 5;
  HIP_OK(add(delta, stream));
  delta = 1000; // the argument was copied
  hipGraphExec_t exec = finish();
  EXPECT_EQ(values(), std::vector<unsigned>(count, 0));

  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(values(), std::vector<unsigned>(count, 5));
  HIP_OK(hipMemsetD32(data, 100, count));
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipGraphLaunch(exec, other));
  EXPECT_EQ(values(), std::vector<unsigned>(count, 110));
  HIP_OK(hipGraphExecDestroy(exec));
}

TEST_F(CaptureTest, CopiesAndFillsAreNodes) {
  std::vector<unsigned> in(count, 7), out(count, 0);
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(hipMemcpyAsync(data, in.data(), bytes, hipMemcpyHostToDevice, stream));
  HIP_OK(add(1, stream));
  HIP_OK(hipMemcpyAsync(out.data(), data, bytes, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipMemsetD32Async(data, 3, count, stream));
  hipGraph_t graph;
  HIP_OK(hipStreamEndCapture(stream, &graph));

  size_t nodes = 0;
  HIP_OK(hipGraphGetNodes(graph, nullptr, &nodes));
  ASSERT_EQ(nodes, 4u);
  std::vector<hipGraphNode_t> handles(6, reinterpret_cast<hipGraphNode_t>(this));
  nodes = handles.size();
  HIP_OK(hipGraphGetNodes(graph, handles.data(), &nodes));
  EXPECT_EQ(nodes, 4u);
  EXPECT_EQ(handles[4], nullptr);
  const hipGraphNodeType expected[] = {hipGraphNodeTypeMemcpy, hipGraphNodeTypeKernel,
                                       hipGraphNodeTypeMemcpy, hipGraphNodeTypeMemset};
  for (size_t i = 0; i < 4; ++i) {
    hipGraphNodeType type;
    HIP_OK(hipGraphNodeGetType(handles[i], &type));
    EXPECT_EQ(type, expected[i]) << i;
  }

  hipGraphExec_t exec;
  HIP_OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_EQ(out, std::vector<unsigned>(count, 0));
  in.assign(count, 20); // read at launch
  HIP_OK(hipGraphLaunch(exec, stream));
  EXPECT_EQ(out, std::vector<unsigned>(count, 21));
  EXPECT_EQ(values(), std::vector<unsigned>(count, 3));
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
  hipGraphNodeType type;
  EXPECT_EQ(hipGraphNodeGetType(handles[0], &type), hipErrorInvalidValue);
}

TEST_F(CaptureTest, AllocationAndModuleLoadAreRefused) {
  void *ptr = nullptr, *mine = nullptr;
  HIP_OK(hipMalloc(&mine, 64));
  hipModule_t loaded = nullptr;
  const hipError_t unsupported = hipErrorStreamCaptureUnsupported;
  refusedAndInvalidates(unsupported, [&] { return hipMalloc(&ptr, 64); });
  refusedAndInvalidates(unsupported, [&] { return hipHostMalloc(&ptr, 64, 0); });
  refusedAndInvalidates(unsupported, [&] { return hipFree(mine); });
  refusedAndInvalidates(unsupported, [&] { return hipHostFree(mine); });
  refusedAndInvalidates(unsupported,
                        [&] { return hipModuleLoadData(&loaded, kernelImage().data()); });
  refusedAndInvalidates(unsupported, [&] { return hipModuleLoad(&loaded, KERNELS_GFX950); });
  EXPECT_EQ(ptr, nullptr);
  EXPECT_EQ(loaded, nullptr);
  // Clean twins: the same calls in relaxed mode ...
  auto relaxed = [&](const std::function<hipError_t()> &call) {
    hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
    EXPECT_EQ(hipThreadExchangeStreamCaptureMode(&mode), hipSuccess);
    EXPECT_EQ(mode, hipStreamCaptureModeGlobal);
    allowed(call, hipStreamCaptureModeRelaxed);
    EXPECT_EQ(hipThreadExchangeStreamCaptureMode(&mode), hipSuccess);
    EXPECT_EQ(mode, hipStreamCaptureModeRelaxed);
  };
  relaxed([&] { return hipFree(mine); });
  relaxed([&] { return hipMalloc(&ptr, 64); });
  relaxed([&] { return hipModuleLoadData(&loaded, kernelImage().data()); });
  // ... and outside of a capture.
  HIP_OK(hipFree(ptr));
  HIP_OK(hipModuleUnload(loaded));
}

TEST_F(CaptureTest, ModesSayWhichThreadsMayAllocate) {
  struct Case {
    hipStreamCaptureMode capture;
    bool sameThreadRefused, otherThreadRefused;
  };
  for (Case c : {Case{hipStreamCaptureModeGlobal, true, true},
                 Case{hipStreamCaptureModeThreadLocal, true, false},
                 Case{hipStreamCaptureModeRelaxed, false, false}}) {
    auto allocate = [] {
      void *ptr = nullptr;
      hipError_t code = hipMalloc(&ptr, 64);
      return code == hipSuccess ? hipFree(ptr) : code;
    };
    auto allocateElsewhere = [&] {
      hipError_t code;
      std::thread([&] { code = allocate(); }).join();
      return code;
    };
    const hipError_t unsupported = hipErrorStreamCaptureUnsupported;
    if (c.sameThreadRefused)
      refusedAndInvalidates(unsupported, allocate, c.capture);
    else
      allowed(allocate, c.capture);
    if (c.otherThreadRefused)
      refusedAndInvalidates(unsupported, allocateElsewhere, c.capture);
    else
      allowed(allocateElsewhere, c.capture);
  }
}

TEST_F(CaptureTest, SynchronousWorkIsRefusedInEveryMode) {
  std::vector<unsigned> host(count, 9);
  for (hipStreamCaptureMode mode :
       {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed}) {
    refusedAndInvalidates(
        hipErrorStreamCaptureImplicit,
        [&] { return hipMemcpy(data, host.data(), bytes, hipMemcpyHostToDevice); }, mode);
    refusedAndInvalidates(
        hipErrorStreamCaptureImplicit, [&] { return hipMemcpyDtoH(host.data(), data, bytes); },
        mode);
    refusedAndInvalidates(
        hipErrorStreamCaptureImplicit, [&] { return hipMemset(data, 1, bytes); }, mode);
  }
  EXPECT_EQ(values(), std::vector<unsigned>(count, 0));
  allowed([&] { return hipMemsetAsync(data, 1, bytes, stream); });
  allowed([&] { return hipMemcpyDtoHAsync(host.data(), data, bytes, stream); });
  HIP_OK(hipMemset(data, 1, bytes));
}

TEST_F(CaptureTest, SynchronizationIsRefused) {
  const hipError_t unsupported = hipErrorStreamCaptureUnsupported;
  refusedAndInvalidates(unsupported, [&] { return hipStreamSynchronize(stream); });
  refusedAndInvalidates(unsupported, [&] { return hipStreamQuery(stream); });
  refusedAndInvalidates(unsupported, [&] { return hipDeviceSynchronize(); });
  refusedAndInvalidates(unsupported, [&] { return hipStreamSynchronize(other); });
  hipEvent_t event;
  HIP_OK(hipEventCreate(&event));
  auto recordThen = [&](hipError_t (*call)(hipEvent_t)) {
    return [=, this] {
      EXPECT_EQ(hipEventRecord(event, stream), hipSuccess);
      return call(event);
    };
  };
  refusedAndInvalidates(hipErrorCapturedEvent, recordThen(hipEventSynchronize));
  refusedAndInvalidates(hipErrorCapturedEvent, recordThen(hipEventQuery));
  // Clean twins.
  allowed([&] { return hipStreamSynchronize(other); }, hipStreamCaptureModeRelaxed);
  HIP_OK(hipStreamSynchronize(stream));
  HIP_OK(hipDeviceSynchronize());
  HIP_OK(hipEventQuery(event)); // its capture is over
  HIP_OK(hipEventDestroy(event));
}

TEST_F(CaptureTest, ForkAndJoin) {
  hipEvent_t forked, joined;
  HIP_OK(hipEventCreateWithFlags(&forked, hipEventDisableTiming));
  HIP_OK(hipEventCreateWithFlags(&joined, hipEventDisableTiming));
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(add(1, stream));
  HIP_OK(hipEventRecord(forked, stream));
  HIP_OK(hipStreamWaitEvent(other, forked, 0));
  EXPECT_EQ(status(other), hipStreamCaptureStatusActive);
  unsigned long long id = 0, otherId = 1;
  hipStreamCaptureStatus ignored;
  HIP_OK(hipStreamGetCaptureInfo(stream, &ignored, &id));
  HIP_OK(hipStreamGetCaptureInfo(other, &ignored, &otherId));
  EXPECT_EQ(id, otherId);
  HIP_OK(add(2, other));
  HIP_OK(hipEventRecord(joined, other));
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamEndCapture(other, &graph), hipErrorStreamCaptureUnmatched);
  HIP_OK(hipStreamWaitEvent(stream, joined, 0));
  hipGraphExec_t exec = finish();
  EXPECT_EQ(status(other), hipStreamCaptureStatusNone);
  EXPECT_EQ(values(), std::vector<unsigned>(count, 0));
  HIP_OK(hipGraphLaunch(exec, stream));
  EXPECT_EQ(values(), std::vector<unsigned>(count, 3));
  HIP_OK(hipGraphExecDestroy(exec));

  // The same without the join.
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(add(1, stream));
  HIP_OK(hipEventRecord(forked, stream));
  HIP_OK(hipStreamWaitEvent(other, forked, 0));
  HIP_OK(add(2, other));
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(status(stream), hipStreamCaptureStatusNone);
  EXPECT_EQ(status(other), hipStreamCaptureStatusNone);
  HIP_OK(hipEventDestroy(forked));
  HIP_OK(hipEventDestroy(joined));
}

TEST_F(CaptureTest, CrossingTheBoundaryIsRefused) {
  hipEvent_t event;
  HIP_OK(hipEventCreate(&event));
  HIP_OK(hipEventRecord(event, other));
  refusedAndInvalidates(hipErrorStreamCaptureIsolation,
                        [&] { return hipStreamWaitEvent(stream, event, 0); });
  // Two sequences must not merge.
  HIP_OK(hipStreamBeginCapture(other, hipStreamCaptureModeRelaxed));
  HIP_OK(hipEventRecord(event, other));
  refusedAndInvalidates(hipErrorStreamCaptureMerge,
                        [&] { return hipStreamWaitEvent(stream, event, 0); });
  hipGraph_t graph;
  EXPECT_EQ(hipStreamEndCapture(other, &graph), hipErrorStreamCaptureInvalidated);
  HIP_OK(hipEventDestroy(event));
}

TEST_F(CaptureTest, BeginAndEndState) {
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal),
            hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamBeginCapture(stream, anyEnum<hipStreamCaptureMode>(3)), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamBeginCapture(stream, anyEnum<hipStreamCaptureMode>(-1)), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorIllegalState);
  EXPECT_EQ(hipStreamEndCapture(nullptr, &graph), hipErrorIllegalState);
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  EXPECT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorIllegalState);
  EXPECT_EQ(hipStreamEndCapture(stream, nullptr), hipErrorInvalidValue);
  std::thread([&] {
    EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureWrongThread);
  }).join();
  HIP_OK(hipStreamEndCapture(stream, &graph));
  size_t nodes = 1;
  HIP_OK(hipGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 0u);
  HIP_OK(hipGraphDestroy(graph));
  EXPECT_EQ(hipGraphDestroy(graph), hipErrorIllegalState);
  // A relaxed capture may end elsewhere.
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  std::thread([&] { EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipSuccess); }).join();
  HIP_OK(hipGraphDestroy(graph));
}

TEST_F(CaptureTest, LaunchRefusalsHoldWhileCapturing) {
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  EXPECT_EQ(launch(kernel("at_most_64"), {&data}, stream, 65), hipErrorLaunchFailure);
  EXPECT_EQ(launch(nullptr, {}, stream), hipErrorInvalidHandle);
  EXPECT_EQ(hipMemsetAsync(data, 0, bytes + 4096, stream), hipErrorInvalidValue);
  EXPECT_EQ(status(stream), hipStreamCaptureStatusActive);
  HIP_OK(add(4, stream));
  hipGraphExec_t exec = finish();
  HIP_OK(hipGraphLaunch(exec, stream));
  EXPECT_EQ(values(), std::vector<unsigned>(count, 4));
  HIP_OK(hipGraphExecDestroy(exec));
}

TEST_F(CaptureTest, DestroyingTheStreamEndsTheCapture) {
  hipStream_t third;
  HIP_OK(hipStreamCreate(&third));
  HIP_OK(hipStreamBeginCapture(third, hipStreamCaptureModeGlobal));
  HIP_OK(add(1, third));
  HIP_OK(hipStreamDestroy(third));
  void *ptr;
  HIP_OK(hipMalloc(&ptr, 64)); // nothing captures any more
  HIP_OK(hipFree(ptr));
}

TEST_F(CaptureTest, GraphExecChecksWhatItNeedsAtLaunch) {
  hipModule_t loaded;
  HIP_OK(hipModuleLoadData(&loaded, kernelImage().data()));
  hipFunction_t none;
  HIP_OK(hipModuleGetFunction(&none, loaded, "no_arguments"));
  unsigned *freed;
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&freed), 64));

  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(launch(none, {}, stream));
  hipGraphExec_t kernelExec = finish();
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(hipMemsetAsync(freed, 0, 64, stream));
  hipGraphExec_t fillExec = finish();

  HIP_OK(hipGraphLaunch(kernelExec, stream));
  HIP_OK(hipGraphLaunch(fillExec, stream));
  refusedAndInvalidates(hipErrorStreamCaptureUnsupported,
                        [&] { return hipGraphLaunch(fillExec, stream); });
  HIP_OK(hipModuleUnload(loaded));
  HIP_OK(hipFree(freed));
  EXPECT_EQ(hipGraphLaunch(kernelExec, stream), hipErrorInvalidHandle);
  EXPECT_EQ(hipGraphLaunch(fillExec, stream), hipErrorInvalidValue);
  HIP_OK(hipGraphExecDestroy(kernelExec));
  HIP_OK(hipGraphExecDestroy(fillExec));
  EXPECT_EQ(hipGraphLaunch(fillExec, stream), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphExecDestroy(fillExec), hipErrorInvalidValue);
}

TEST_F(CaptureTest, StreamPerThreadCaptures) {
  HIP_OK(hipStreamBeginCapture(hipStreamPerThread, hipStreamCaptureModeThreadLocal));
  HIP_OK(add(6, hipStreamPerThread));
  hipGraph_t graph;
  HIP_OK(hipStreamEndCapture(hipStreamPerThread, &graph));
  hipGraphExec_t exec;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP_OK(hipGraphLaunch(exec, hipStreamPerThread));
  EXPECT_EQ(values(), std::vector<unsigned>(count, 6));
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
}

} // namespace
