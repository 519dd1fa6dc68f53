//===- ConcurrencyTest.cpp - many threads, streams and devices --------------===//
//
// Meant for ThreadSanitizer as much as for its own checks.
//
//===------------------------------------------------------------------------===//

#include "tests/tools/hip/HipClient.h"

#include <atomic>
#include <cstdlib>
#include <thread>

static const int devicesSet = setenv("GFX950EMU_DEVICES", "8", 0);

namespace {

constexpr unsigned threads = 16, devices = 8, rounds = 20, count = 200;

/// Everything a thread does on its device, with buffers of its own.
void work(unsigned id, std::atomic<unsigned> &done) {
  HIP_OK(hipSetDevice(static_cast<int>(id % devices)));
  hipModule_t module;
  HIP_OK(hipModuleLoadData(&module, kernelImage().data()));
  hipFunction_t function;
  HIP_OK(hipModuleGetFunction(&function, module, "add_constant"));
  hipStream_t stream;
  HIP_OK(hipStreamCreateWithFlags(&stream, id % 2 ? hipStreamNonBlocking : hipStreamDefault));
  hipEvent_t event;
  HIP_OK(hipEventCreate(&event));
  unsigned *data, n = count;
  HIP_OK(hipMalloc(reinterpret_cast<void **>(&data), count * sizeof *data));
  HIP_OK(hipMemsetAsync(data, 0, count * sizeof *data, stream));
  unsigned expected = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    void *params[] = {&data, &n, &round};
    HIP_OK(hipModuleLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, stream, params, nullptr));
    expected += round;
    void *scratch = nullptr;
    HIP_OK(hipMalloc(&scratch, 4096));
    HIP_OK(hipMemcpyAsync(scratch, data, count * sizeof *data, hipMemcpyDeviceToDevice, stream));
    HIP_OK(hipEventRecord(event, stream));
    HIP_OK(hipEventSynchronize(event));
    HIP_OK(hipFree(scratch));
  }
  std::vector<unsigned> out(count);
  HIP_OK(hipMemcpy(out.data(), data, count * sizeof *data, hipMemcpyDeviceToHost));
  EXPECT_EQ(out, std::vector<unsigned>(count, expected));
  HIP_OK(hipDeviceSynchronize());
  HIP_OK(hipFree(data));
  HIP_OK(hipEventDestroy(event));
  HIP_OK(hipStreamDestroy(stream));
  HIP_OK(hipModuleUnload(module));
  ++done;
}

TEST(Concurrency, ThreadsOnStreamsAndDevices) {
  ASSERT_EQ(devicesSet, 0);
  std::atomic<unsigned> done{0};
  std::vector<std::thread> pool;
  for (unsigned id = 0; id < threads; ++id)
    pool.emplace_back(work, id, std::ref(done));
  for (std::thread &thread : pool)
    thread.join();
  EXPECT_EQ(done, threads);
}

struct SharedConcurrency : HipClientTest {};

TEST_F(SharedConcurrency, OneStreamKeepsItsOrderAmongThreads) {
  DeviceBuffer<unsigned> data(std::vector<unsigned>(count, 0));
  hipFunction_t function = kernel("add_constant");
  hipStream_t stream;
  HIP_OK(hipStreamCreate(&stream));
  std::vector<std::thread> pool;
  for (unsigned id = 0; id < 8; ++id)
    pool.emplace_back([&, id] {
      for (unsigned round = 0; round < 10; ++round) {
        unsigned n = count, delta = 1;
        void *params[] = {&data.data, &n, &delta};
        // Blocking streams and the null stream exclude each other, so no addition is lost.
        EXPECT_EQ(hipModuleLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, id % 2 ? stream : nullptr,
                                        params, nullptr),
                  hipSuccess);
      }
    });
  for (std::thread &thread : pool)
    thread.join();
  EXPECT_EQ(data.get(), std::vector<unsigned>(count, 80));
  HIP_OK(hipStreamDestroy(stream));
}

TEST_F(SharedConcurrency, ThreadLocalCapturesSideBySide) {
  hipFunction_t function = kernel("add_constant");
  constexpr unsigned workers = 8, captures = 10;
  // Copied to and from outside of all captures: a synchronous copy of any thread ends them all.
  DeviceBuffer<unsigned> sums(std::vector<unsigned>(workers, 0));
  std::vector<std::thread> pool;
  for (unsigned id = 0; id < workers; ++id)
    pool.emplace_back([&, id] {
      hipStream_t stream;
      HIP_OK(hipStreamCreate(&stream));
      for (unsigned round = 0; round < captures; ++round) {
        HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
        unsigned *mine = sums.data + id, n = 1;
        void *params[] = {&mine, &n, const_cast<unsigned *>(&id)};
        HIP_OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, params, nullptr));
        hipGraph_t graph;
        HIP_OK(hipStreamEndCapture(stream, &graph));
        hipGraphExec_t exec;
        HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
        HIP_OK(hipGraphDestroy(graph));
        HIP_OK(hipGraphLaunch(exec, stream));
        HIP_OK(hipGraphExecDestroy(exec));
      }
      HIP_OK(hipStreamSynchronize(stream));
      HIP_OK(hipStreamDestroy(stream));
    });
  for (std::thread &thread : pool)
    thread.join();
  std::vector<unsigned> expected;
  for (unsigned id = 0; id < workers; ++id)
    expected.push_back(captures * id);
  EXPECT_EQ(sums.get(), expected);
}

} // namespace
