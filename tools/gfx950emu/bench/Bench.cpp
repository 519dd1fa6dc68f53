//===- Bench.cpp - wave instructions a second, beside a scalar loop ------------------===//
//
// Each kernel runs in both interpreters on one core, after both have been shown to leave
// the same bytes in memory. "ratio" is the emulator's rate over the scalar loop's.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/bench/ScalarInterpreter.h"
#include "tools/gfx950emu/core/Emulator.h"
#include "tools/gfx950emu/core/OpTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <ctime>
#include <map>
#include <string>

using namespace gfx950emu;

namespace {

constexpr uint32_t workgroups = 4;
constexpr size_t bufferBytes = workgroups * waveSize * 4;

/// The code object, a buffer and both interpreters of one kernel.
class Subject {
public:
  static llvm::Expected<std::unique_ptr<Subject>> create(llvm::ArrayRef<uint8_t> image,
                                                         const std::string &kernel) {
    std::unique_ptr<Subject> s(new Subject);
    auto object = CodeObject::load(image, s->memory);
    if (!object)
      return object.takeError();
    s->object = std::move(*object);
    s->kernel = s->object->find(kernel);
    if (!s->kernel)
      return llvm::createStringError("no kernel " + kernel);
    s->buffer = static_cast<uint8_t *>(s->memory.allocate(bufferBytes));
    if (!s->buffer)
      return llvm::createStringError("no memory");
    s->argument = reinterpret_cast<uint64_t>(s->buffer);
    auto scalar = bench::ScalarInterpreter::create(*s->object, *s->kernel);
    if (!scalar)
      return scalar.takeError();
    s->scalar = std::move(*scalar);
    if (llvm::Error error = s->compare())
      return std::move(error);
    return s;
  }

  llvm::Expected<uint64_t> emulate() {
    Dispatch dispatch;
    dispatch.object = object.get();
    dispatch.kernel = kernel;
    dispatch.grid = {workgroups, 1, 1};
    dispatch.block = {waveSize, 1, 1};
    dispatch.kernarg = {reinterpret_cast<const uint8_t *>(&argument), sizeof argument};
    RunOptions options;
    options.threads = 1;
    llvm::Expected<RunStats> stats = run(dispatch, memory, options);
    if (!stats)
      return stats.takeError();
    return stats->instructions;
  }
  uint64_t interpret() {
    uint64_t executed = 0;
    for (uint32_t group = 0; group < workgroups; ++group)
      executed += scalar->run(group, &argument);
    return executed;
  }

  double scalarRate = 0; ///< wave instructions a second

private:
  Subject() = default;

  /// Same instructions executed, same bytes written.
  llvm::Error compare() {
    memset(buffer, 0, bufferBytes);
    uint64_t expected = interpret();
    std::string bytes(reinterpret_cast<char *>(buffer), bufferBytes);
    memset(buffer, 0, bufferBytes);
    llvm::Expected<uint64_t> found = emulate();
    if (!found)
      return found.takeError();
    if (*found != expected || memcmp(buffer, bytes.data(), bufferBytes) != 0 ||
        bytes.find_first_not_of('\0') == std::string::npos)
      return llvm::createStringError("kernel " + kernel->name +
                                     ": the two interpreters do not agree");
    return llvm::Error::success();
  }

  MemoryMap memory;
  std::unique_ptr<CodeObject> object;
  const KernelInfo *kernel = nullptr;
  uint8_t *buffer = nullptr;
  uint64_t argument = 0;
  std::unique_ptr<bench::ScalarInterpreter> scalar;
};

double cpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

void reportRate(benchmark::State &state, uint64_t executed) {
  state.counters["wave_inst/s"] = benchmark::Counter(double(executed), benchmark::Counter::kIsRate);
}

void runScalar(benchmark::State &state, Subject &subject) {
  uint64_t executed = 0;
  double start = cpuSeconds();
  for (auto _ : state)
    executed += subject.interpret();
  subject.scalarRate = double(executed) / (cpuSeconds() - start);
  reportRate(state, executed);
}

void runEmulator(benchmark::State &state, Subject &subject) {
  uint64_t executed = 0;
  double start = cpuSeconds();
  for (auto _ : state) {
    llvm::Expected<uint64_t> more = subject.emulate();
    if (!more) {
      state.SkipWithError(llvm::toString(more.takeError()).c_str());
      return;
    }
    executed += *more;
  }
  double rate = double(executed) / (cpuSeconds() - start);
  reportRate(state, executed);
  // Absent when a filter left the scalar loop out.
  if (subject.scalarRate > 0)
    state.counters["ratio"] = rate / subject.scalarRate;
  state.SetLabel(simdLevelName(hostSimdLevel()).str());
}

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  auto file = llvm::MemoryBuffer::getFile(BENCH_KERNELS);
  if (!file) {
    llvm::errs() << BENCH_KERNELS << ": " << file.getError().message() << '\n';
    return 1;
  }
  llvm::ArrayRef<uint8_t> image = llvm::arrayRefFromStringRef((*file)->getBuffer());
  std::map<std::string, std::unique_ptr<Subject>> subjects;
  for (const std::string name : {"mix", "light_mix", "valu", "mfma", "memory"}) {
    auto subject = Subject::create(image, name);
    if (!subject) {
      llvm::errs() << llvm::toString(subject.takeError()) << '\n';
      return 1;
    }
    Subject &s = *(subjects[name] = std::move(*subject));
    benchmark::RegisterBenchmark((name + "/scalar").c_str(),
                                 [&s](benchmark::State &state) { runScalar(state, s); });
    benchmark::RegisterBenchmark((name + "/emulator").c_str(),
                                 [&s](benchmark::State &state) { runEmulator(state, s); });
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
