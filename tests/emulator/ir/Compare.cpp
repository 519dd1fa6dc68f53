//===- Compare.cpp - one module on both sides, bit for bit -----------------===//
#include "tests/emulator/ir/Compare.h"

#include "tests/emulator/ir/Emitter.h"
#include "tests/emulator/ir/Host.h"
#include "tests/emulator/ir/Inputs.h"
#include "tests/emulator/ir/Program.h"
#include "tools/gfx950emu/core/Emulator.h"

#include "llvm/IR/Verifier.h"

using namespace llvm;

namespace irfuzz {
namespace {

/// What no program wrote.
constexpr uint64_t Untouched = 0xa5a5a5a5a5a5a5a5;
constexpr uint64_t MaxInstructions = 20'000'000; ///< far above what bounded loops reach

// The check would read what lies before the JIT's function.
__attribute__((no_sanitize("function"))) std::vector<uint64_t> runOnHost(HostFunction program,
                                                                         const Inputs &inputs) {
  std::vector<uint64_t> output(size_t(Lanes) * OutputSlots, Untouched);
  uint64_t lds[LdsSlots] = {};
  for (unsigned lane = 0; lane < Lanes; ++lane)
    program(&inputs.lanes[size_t(lane) * InputSlots], inputs.uniform.data(),
            &output[size_t(lane) * OutputSlots], lds);
  return output;
}

/// Buffers of the device, used by one program after the other.
struct DeviceBuffers {
  gfx950emu::MemoryMap memory;
  uint64_t *input = words(size_t(Lanes) * InputSlots);
  uint64_t *uniform = words(UniformSlots);
  uint64_t *output = words(size_t(Lanes) * OutputSlots);

private:
  uint64_t *words(size_t count) { return static_cast<uint64_t *>(memory.allocate(count * 8)); }
};

Expected<uint64_t> runOnDevice(const gfx950emu::CodeObject &object,
                               const gfx950emu::KernelInfo &kernel, DeviceBuffers &buffers,
                               const Inputs &inputs) {
  std::copy(inputs.lanes.begin(), inputs.lanes.end(), buffers.input);
  std::copy(inputs.uniform.begin(), inputs.uniform.end(), buffers.uniform);
  std::fill_n(buffers.output, size_t(Lanes) * OutputSlots, Untouched);
  const uint64_t *arguments[] = {buffers.input, buffers.uniform, buffers.output};
  gfx950emu::Dispatch dispatch;
  dispatch.object = &object;
  dispatch.kernel = &kernel;
  dispatch.grid = {Grid, 1, 1};
  dispatch.block = {BlockSize, 1, 1};
  dispatch.kernarg = {reinterpret_cast<const uint8_t *>(arguments), sizeof arguments};
  gfx950emu::RunOptions options;
  options.threads = 1;
  options.maxInstructions = MaxInstructions;
  auto stats = gfx950emu::run(dispatch, buffers.memory, options);
  if (!stats)
    return stats.takeError();
  return stats->instructions;
}

} // namespace

Expected<Outcome> compare(const Module &module, const Config &config, const Mutation &mutation) {
  std::string text;
  raw_string_ostream diagnostics(text);
  if (verifyModule(module, &diagnostics))
    return createStringError("the generator made invalid IR: " + text);
  auto host = HostPrograms::compile(module);
  if (!host)
    return host.takeError();
  auto code = compileForDevice(module, config, mutation);
  if (!code)
    return code.takeError();
  DeviceBuffers buffers;
  if (!buffers.input || !buffers.uniform || !buffers.output)
    return createStringError("no memory for the device's buffers");
  auto object = gfx950emu::CodeObject::load(code->image, buffers.memory);
  if (!object)
    return object.takeError();

  Outcome outcome;
  outcome.fallbacks = code->fallbacks;
  for (const Function &function : module) {
    std::optional<uint64_t> seed = seedOf(function.getName());
    if (!seed)
      continue;
    Verdict verdict;
    verdict.seed = *seed;
    Inputs inputs = inputsOf(*seed);
    auto program = host->find(function.getName());
    if (!program)
      return program.takeError();
    std::vector<uint64_t> expected = runOnHost(*program, inputs);
    const gfx950emu::KernelInfo *kernel =
        (*object)->find(("k" + function.getName().drop_front()).str());
    if (!kernel)
      return createStringError("the code object has no kernel for " + function.getName());
    auto instructions = runOnDevice(**object, *kernel, buffers, inputs);
    if (instructions)
      outcome.instructions += *instructions;
    else
      verdict.fault = toString(instructions.takeError());
    for (size_t i = 0; i < expected.size(); ++i) {
      outcome.stored += expected[i] != Untouched;
      if (verdict.fault.empty() && expected[i] != buffers.output[i])
        verdict.differences.push_back(
            {unsigned(i / OutputSlots), unsigned(i % OutputSlots), expected[i], buffers.output[i]});
    }
    outcome.verdicts.push_back(std::move(verdict));
  }
  return outcome;
}

} // namespace irfuzz
