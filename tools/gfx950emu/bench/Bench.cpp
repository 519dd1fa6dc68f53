//===- Bench.cpp - wave instructions a second, beside a scalar loop ------------------===//
//
// Each kernel runs in the emulator and in both compilations of the scalar loop on one
// core, after all have been shown to leave the same bytes in memory. "ratio" is the
// emulator's rate over that of the scalar loop for any x86-64, "ratio_fma" over that of
// the scalar loop with the machine's fused multiply-add and f16 conversion.
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
#include <vector>

using namespace gfx950emu;

namespace {

constexpr uint32_t workgroups = 4;
constexpr size_t bufferBytes = workgroups * waveSize * 4;

/// The code object, a buffer and the interpreters of one kernel.
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
    for (auto create : {bench::createScalar, bench::createScalarFma}) {
      auto scalar = create(*s->object, *s->kernel);
      if (!scalar)
        return scalar.takeError();
      s->scalars.push_back(std::move(*scalar));
      if (llvm::Error error = s->compare(s->scalars.size() - 1))
        return std::move(error);
    }
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
  /// `which`: 0 for any x86-64, 1 with fused multiply-add.
  uint64_t interpret(size_t which) {
    uint64_t executed = 0;
    for (uint32_t group = 0; group < workgroups; ++group)
      executed += scalars[which]->run(group, &argument);
    return executed;
  }

  double scalarRate[2] = {}; ///< wave instructions a second; 0 until measured

private:
  Subject() = default;

  /// Same instructions executed, same bytes written.
  llvm::Error compare(size_t which) {
    memset(buffer, 0, bufferBytes);
    uint64_t expected = interpret(which);
    std::string bytes(reinterpret_cast<char *>(buffer), bufferBytes);
    memset(buffer, 0, bufferBytes);
    llvm::Expected<uint64_t> found = emulate();
    if (!found)
      return found.takeError();
    if (*found != expected || memcmp(buffer, bytes.data(), bufferBytes) != 0 ||
        bytes.find_first_not_of('\0') == std::string::npos)
      return llvm::createStringError("kernel " + kernel->name +
                                     ": emulator and scalar loop do not agree");
    return llvm::Error::success();
  }

  MemoryMap memory;
  std::unique_ptr<CodeObject> object;
  const KernelInfo *kernel = nullptr;
  uint8_t *buffer = nullptr;
  uint64_t argument = 0;
  std::vector<std::unique_ptr<bench::ScalarInterpreter>> scalars;
};

double cpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

void reportRate(benchmark::State &state, uint64_t executed) {
  state.counters["wave_inst/s"] = benchmark::Counter(double(executed), benchmark::Counter::kIsRate);
}

void runScalar(benchmark::State &state, Subject &subject, size_t which) {
  uint64_t executed = 0;
  double start = cpuSeconds();
  while (state.KeepRunning())
    executed += subject.interpret(which);
  subject.scalarRate[which] = double(executed) / (cpuSeconds() - start);
  reportRate(state, executed);
}

void runEmulator(benchmark::State &state, Subject &subject) {
  uint64_t executed = 0;
  double start = cpuSeconds();
  while (state.KeepRunning()) {
    llvm::Expected<uint64_t> more = subject.emulate();
    if (!more) {
      state.SkipWithError(llvm::toString(more.takeError()).c_str());
      return;
    }
    executed += *more;
  }
  double rate = double(executed) / (cpuSeconds() - start);
  reportRate(state, executed);
  // Absent when a filter left the scalar loops out.
  if (subject.scalarRate[0] > 0)
    state.counters["ratio"] = rate / subject.scalarRate[0];
  if (subject.scalarRate[1] > 0)
    state.counters["ratio_fma"] = rate / subject.scalarRate[1];
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
                                 [&s](benchmark::State &state) { runScalar(state, s, 0); });
    benchmark::RegisterBenchmark((name + "/scalar_fma").c_str(),
                                 [&s](benchmark::State &state) { runScalar(state, s, 1); });
    benchmark::RegisterBenchmark((name + "/emulator").c_str(),
                                 [&s](benchmark::State &state) { runEmulator(state, s); });
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
