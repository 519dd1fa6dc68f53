//===- QuietTest.cpp - what a frozen bundle asks of the system: nothing -----===//
//
// Rule G6 over 100,000 steps of look-up and launch: no allocation, no lock, no
// file, no process, no mapping, no library, no look at the environment, no HIP
// call but the launch; on a fake HIP, on the emulator, and on the emulator while
// a stream captures. And no system call at all, by a filter that kills.
//
//===------------------------------------------------------------------------===//
#include "tests/runtime/Interpose.h"
#include "tests/runtime/LaunchFixture.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mutex>
#include <new>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nvfp4rt;
using namespace nvfp4rt::test;

namespace {

constexpr int kSteps = 100000;
const char *const kStepNames[] = {"phase", "query_len", "requests"};

/// What a serving stack does in its steps, on a frozen bundle.
class Steps {
public:
  explicit Steps(nvfp4rt_bundle *bundle) : bundle(bundle) {
    const nvfp4rt_field dtype = symbol("dtype", "bf16");
    EXPECT_EQ(nvfp4rt_selector_create(bundle, "kv_store", &dtype, 1, kStepNames, 3, &selector),
              NVFP4RT_OK)
        << nvfp4rt_last_error();
  }
  ~Steps() { nvfp4rt_selector_destroy(selector); }
  Steps(const Steps &) = delete;

  /// The number of steps that succeeded. `args` of each launch are `given`.
  int run(int steps, void *stream, const nvfp4rt_kv_store_args &given) {
    int good = 0;
    nvfp4rt_kv_store_args args = given;
    nvfp4rt_field fields[4] = {symbol("phase", "decode"), integer("query_len", 1),
                               integer("requests", 1), symbol("dtype", "bf16")};
    for (int i = 0; i < steps; ++i) {
      fields[2].value = 1 + i % 48;
      const int64_t values[] = {0, 1, fields[2].value};
      nvfp4rt_plan *plan = nullptr, *same = nullptr;
      good += nvfp4rt_plan_create(bundle, 0, "kv_store", fields, 4, &plan) == NVFP4RT_OK &&
              nvfp4rt_selector_plan(selector, 0, values, &same) == NVFP4RT_OK && plan == same &&
              nvfp4rt_plan_workspace_bytes(plan) > 0 && *nvfp4rt_plan_variant(plan) &&
              nvfp4rt_launch(plan, &args, stream) == NVFP4RT_OK;
      nvfp4rt_plan_destroy(plan);
      nvfp4rt_plan_destroy(same);
    }
    return good;
  }

private:
  nvfp4rt_bundle *bundle;
  nvfp4rt_selector *selector = nullptr;
};

void expectQuiet(const Calls &calls) {
  EXPECT_EQ(calls.allocations, 0u);
  EXPECT_EQ(calls.frees, 0u);
  EXPECT_EQ(calls.opens, 0u);
  EXPECT_EQ(calls.locks, 0u);
  EXPECT_EQ(calls.processes, 0u);
  EXPECT_EQ(calls.mappings, 0u);
  EXPECT_EQ(calls.libraries, 0u);
  EXPECT_EQ(calls.environment, 0u);
}

using Quiet = LaunchFixture;

/// Only exit may be called from here on. False where the kernel does not allow filters.
bool forbidSystemCalls() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program = {std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

constexpr int kNoFilter = 77;

/// Wait status of a child that runs `body` under the filter and exits with its value.
template <typename Body> int underFilter(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    if (!forbidSystemCalls())
      _exit(kNoFilter);
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

} // namespace

TEST_F(Quiet, OnAFakeHip) {
  load();
  Steps steps(bundle);
  fake->recordLaunches = false;
  fake->calls.clear();
  const nvfp4rt_kv_store_args args = argsFor(7);
  watchCalls();
  const int good = steps.run(kSteps, nullptr, args);
  expectQuiet(stopWatching());
  EXPECT_EQ(good, kSteps) << nvfp4rt_last_error();
  EXPECT_TRUE(fake->calls.empty());
}

TEST_F(Quiet, CheckedAndLoggedForErrors) { // switches that are on cost no calls either
  setenv("NVFP4RT_CHECK", "1", 1);
  setenv("NVFP4RT_LOG", "info", 1);
  open(testManifest(testObject("good")));
  load();
  unsetenv("NVFP4RT_CHECK");
  unsetenv("NVFP4RT_LOG");
  Steps steps(bundle);
  fake->recordLaunches = false;
  nvfp4rt_kv_store_args args = argsFor(7);
  args.slots = args.index_slots = reinterpret_cast<const int64_t *>(0x1000);
  args.pages = args.index_pages = 9;
  for (nvfp4rt_rows *rows : {&args.k, &args.v, &args.index_k})
    *rows = {reinterpret_cast<const void *>(0x1000), 256, 256};
  for (nvfp4rt_plane *plane : {&args.k_payload, &args.k_scale, &args.v_payload, &args.v_scale,
                               &args.index_payload, &args.index_scale})
    *plane = {reinterpret_cast<void *>(0x1000), 8192, 64, 64};
  watchCalls();
  const int good = steps.run(1000, nullptr, args);
  expectQuiet(stopWatching());
  EXPECT_EQ(good, 1000) << nvfp4rt_last_error();
}

// The counters count: each kind of call, made once.
TEST_F(Quiet, TheCountersCount) {
  load();
  ASSERT_EQ(makePlan(decode(1)), NVFP4RT_OK);
  watchCalls();
  EXPECT_EQ(nvfp4rt_launch(plan, nullptr, nullptr), NVFP4RT_ERROR_INVALID_ARGUMENT);
  EXPECT_GT(stopWatching().allocations, 0u); // the message of a failure takes memory

  std::mutex mutex;
  watchCalls();
  ::operator delete(::operator new(16)); // not an expression that may be left out
  mutex.lock();
  mutex.unlock();
  const int fd = ::open("/dev/null", O_RDONLY);
  void *mapping = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *library = dlopen(nullptr, RTLD_NOW);
  const bool set = getenv("NVFP4RT_HIP_LIBRARY") != nullptr;
  pid_t pid = 0;
  char *none[] = {nullptr};
  const int spawned = posix_spawn(&pid, "/nonexistent", nullptr, nullptr, none, none);
  const Calls calls = stopWatching();
  EXPECT_TRUE(fd >= 0 && mapping != MAP_FAILED && library && set && spawned != 0);
  EXPECT_GE(calls.allocations, 1u);
  EXPECT_GE(calls.frees, 1u);
  EXPECT_GE(calls.locks, 1u);
  EXPECT_GE(calls.opens, 1u);
  EXPECT_GE(calls.mappings, 1u);
  EXPECT_GE(calls.libraries, 1u);
  EXPECT_GE(calls.environment, 1u);
  EXPECT_GE(calls.processes, 1u);
  close(fd);
  munmap(mapping, 4096);
  dlclose(library);
}

TEST_F(Quiet, NoSystemCall) {
  load();
  Steps steps(bundle);
  fake->recordLaunches = false;
  const nvfp4rt_kv_store_args args = argsFor(7);
  const int status =
      underFilter([&] { return steps.run(kSteps, nullptr, args) == kSteps ? 0 : 1; });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoFilter)
    GTEST_SKIP() << "this kernel does not let a process filter its system calls";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  // The filter kills.
  const int killed = underFilter([] { return ::open("/dev/null", O_RDONLY) >= 0 ? 0 : 1; });
  EXPECT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGSYS) << killed;
}

namespace {

/// The emulator behind the shim.
class QuietEmulator : public testing::Test {
protected:
  QuietEmulator() : library(HIP_SHIM_PATH) {
    shim = dlopen(HIP_SHIM_PATH, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(shim, nullptr) << dlerror();
  }
  void SetUp() override {
    const ByteVector bytes = goodBundle();
    ASSERT_EQ(nvfp4rt_bundle_open_memory(bytes.data(), bytes.size(), &bundle), NVFP4RT_OK)
        << nvfp4rt_last_error();
    ASSERT_EQ(nvfp4rt_bundle_load(bundle, 0), NVFP4RT_OK) << nvfp4rt_last_error();
    ASSERT_EQ(nvfp4rt_bundle_freeze(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
    ASSERT_EQ(function<int(void **)>("hipStreamCreate")(&stream), 0);
  }
  void TearDown() override {
    EXPECT_EQ(function<int(void *)>("hipStreamDestroy")(stream), 0);
    EXPECT_EQ(nvfp4rt_bundle_close(bundle), NVFP4RT_OK) << nvfp4rt_last_error();
  }
  template <typename Signature> Signature *function(const char *name) {
    return reinterpret_cast<Signature *>(dlsym(shim, name));
  }
  uint64_t hipCalls() { return function<uint64_t()>("hipShimCalls")(); }
  void expectQuietSteps(int count) {
    Steps steps(bundle);
    const nvfp4rt_kv_store_args args = argsFor(1);
    const uint64_t before = hipCalls();
    watchCalls();
    const int good = steps.run(count, stream, args);
    expectQuiet(stopWatching());
    EXPECT_EQ(good, count) << nvfp4rt_last_error();
    EXPECT_EQ(hipCalls(), before);
  }

  HipLibrary library;
  void *shim;
  nvfp4rt_bundle *bundle = nullptr;
  void *stream = nullptr;
};

} // namespace

TEST_F(QuietEmulator, WhileAStreamCaptures) {
  constexpr int kCaptureModeGlobal = 0; // in which other calls would break the capture
  ASSERT_EQ(function<int(void *, int)>("hipStreamBeginCapture")(stream, kCaptureModeGlobal), 0);
  expectQuietSteps(kSteps);
  void *graph = nullptr;
  ASSERT_EQ(function<int(void *, void **)>("hipStreamEndCapture")(stream, &graph), 0);
  EXPECT_NE(graph, nullptr);
  EXPECT_EQ(function<int(void *)>("hipGraphDestroy")(graph), 0);
}

TEST_F(QuietEmulator, Launching) { expectQuietSteps(300); }
