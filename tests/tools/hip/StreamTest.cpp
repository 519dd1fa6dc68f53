//===- StreamTest.cpp - streams and events ----------------------------------===//

#include "tests/tools/hip/HipClient.h"

namespace {

struct StreamTest : HipClientTest {};

TEST_F(StreamTest, CreateAndDestroy) {
  hipStream_t stream = nullptr;
  EXPECT_EQ(hipStreamCreate(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamCreateWithFlags(&stream, 2), hipErrorInvalidValue);
  HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  unsigned flags = 0;
  HIP_OK(hipStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, unsigned{hipStreamNonBlocking});
  HIP_OK(hipStreamQuery(stream));
  HIP_OK(hipStreamDestroy(stream));
  EXPECT_EQ(hipStreamDestroy(stream), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipStreamSynchronize(stream), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipStreamQuery(stream), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipStreamDestroy(nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipStreamDestroy(hipStreamPerThread), hipErrorInvalidHandle);

  int least = 0, greatest = 0, priority = 0;
  HIP_OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
  HIP_OK(hipStreamCreateWithPriority(&stream, 0, greatest - 10));
  HIP_OK(hipStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, greatest);
  HIP_OK(hipStreamDestroy(stream));
}

TEST_F(StreamTest, StreamPerThreadRuns) {
  HIP_OK(launch(kernel("no_arguments"), {}, hipStreamPerThread));
  HIP_OK(hipStreamSynchronize(hipStreamPerThread));
}

TEST_F(StreamTest, Events) {
  hipStream_t stream;
  hipEvent_t start, stop, untimed;
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipEventCreate(&start));
  HIP_OK(hipEventCreateWithFlags(&stop, hipEventBlockingSync));
  HIP_OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
  EXPECT_EQ(hipEventCreateWithFlags(&untimed, 0x80), hipErrorInvalidValue);
  EXPECT_EQ(hipEventCreateWithFlags(&untimed, hipEventReleaseToDevice | hipEventReleaseToSystem),
            hipErrorInvalidValue);
  EXPECT_EQ(hipEventCreate(nullptr), hipErrorInvalidValue);

  float ms = -1;
  HIP_OK(hipEventQuery(start)); // never recorded: done
  HIP_OK(hipEventSynchronize(start));
  EXPECT_EQ(hipEventElapsedTime(&ms, start, stop), hipErrorInvalidHandle);
  HIP_OK(hipEventRecord(start, stream));
  HIP_OK(launch(kernel("no_arguments"), {}, stream));
  HIP_OK(hipEventRecord(stop, stream));
  HIP_OK(hipEventRecord(untimed, stream));
  HIP_OK(hipStreamWaitEvent(nullptr, stop, 0));
  EXPECT_EQ(hipStreamWaitEvent(nullptr, stop, 1), hipErrorInvalidValue);
  HIP_OK(hipEventSynchronize(stop));
  HIP_OK(hipEventElapsedTime(&ms, start, stop));
  EXPECT_GT(ms, 0.0f);
  EXPECT_LT(ms, 60'000.0f);
  EXPECT_EQ(hipEventElapsedTime(&ms, start, untimed), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventElapsedTime(nullptr, start, stop), hipErrorInvalidValue);

  HIP_OK(hipStreamDestroy(stream));
  HIP_OK(hipStreamWaitEvent(nullptr, stop, 0)); // its stream is gone, so its work is done
  for (hipEvent_t event : {start, stop, untimed})
    HIP_OK(hipEventDestroy(event));
  EXPECT_EQ(hipEventDestroy(start), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipEventDestroy(nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventRecord(start, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventSynchronize(start), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventQuery(start), hipErrorInvalidHandle);
  EXPECT_EQ(hipStreamWaitEvent(nullptr, start, 0), hipErrorInvalidHandle);
}

} // namespace
