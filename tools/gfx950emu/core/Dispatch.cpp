//===- Dispatch.cpp - launch a grid over threads ----------------------------------===//

#include "tools/gfx950emu/core/Emulator.h"
#include "tools/gfx950emu/core/Observer.h"
#include "tools/gfx950emu/core/Program.h"
#include "tools/gfx950emu/core/Workgroup.h"

#include "llvm/Support/Endian.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <thread>

using namespace llvm;

namespace gfx950emu {

namespace {

/// Added to a kernel whose stack is dynamic (recursion, alloca), as ROCm's default limit does.
constexpr uint32_t dynamicStackBytes = 16 * 1024;
constexpr uint32_t ldsGranule = 4;
/// Workgroups that may be in flight on the whole device, so that a grid-wide spin barrier of that
/// size works as on hardware.
constexpr size_t residentWorkgroups = 2048;

Error badDispatch(const KernelInfo &kernel, const Twine &message) {
  return make_error<Fault>(FaultKind::BadDispatch,
                           ("kernel " + kernel.name + ": " + message).str());
}

bool isHidden(const KernelArg &arg) { return StringRef(arg.valueKind).starts_with("hidden_"); }

/// Buffers of a dispatch that the kernel can read: arguments, packet and queue.
class DispatchBuffers {
public:
  explicit DispatchBuffers(MemoryMap &memory) : memory(memory) {}
  ~DispatchBuffers() {
    for (auto &buffer : buffers)
      memory.remove(reinterpret_cast<uint64_t>(buffer.get()));
  }
  uint8_t *add(size_t bytes) {
    size_t rounded = (bytes + 63) / 64 * 64;
    buffers.emplace_back(static_cast<uint8_t *>(::operator new[](rounded, std::align_val_t(64))));
    std::fill_n(buffers.back().get(), rounded, 0);
    memory.add(reinterpret_cast<uint64_t>(buffers.back().get()), rounded, /*writable=*/false);
    return buffers.back().get();
  }

private:
  struct Delete {
    void operator()(uint8_t *p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  MemoryMap &memory;
  std::vector<std::unique_ptr<uint8_t[], Delete>> buffers;
};

/// The part of an argument value that fits its slot.
void store(uint8_t *kernarg, const KernelArg &arg, uint64_t value) {
  uint8_t bytes[8];
  support::endian::write64le(bytes, value);
  memcpy(kernarg + arg.offset, bytes, std::min<size_t>(arg.size, 8));
}

void fillHidden(uint8_t *kernarg, const Dispatch &d, uint64_t queue) {
  for (const KernelArg &arg : d.kernel->args) {
    StringRef kind = arg.valueKind;
    if (!kind.consume_front("hidden_"))
      continue;
    unsigned dim = kind.ends_with("_y") ? 1 : kind.ends_with("_z") ? 2 : 0;
    if (kind.starts_with("block_count_"))
      store(kernarg, arg, d.grid[dim]);
    else if (kind.starts_with("group_size_"))
      store(kernarg, arg, d.block[dim]);
    else if (kind == "grid_dims")
      store(kernarg, arg, d.grid[2] * d.block[2] > 1 ? 3 : d.grid[1] * d.block[1] > 1 ? 2 : 1);
    else if (kind == "dynamic_lds_size")
      store(kernarg, arg, d.dynamicLdsBytes);
    else if (kind == "private_base")
      store(kernarg, arg, privateAperture >> 32);
    else if (kind == "shared_base")
      store(kernarg, arg, sharedAperture >> 32);
    else if (kind == "queue_ptr")
      store(kernarg, arg, queue);
    // remainder, global_offset: zero; grids are whole workgroups from the origin. Host services
    // (hostcall, heap, default queue) do not exist here: null.
  }
}

/// hsa_kernel_dispatch_packet_t, the fields that device code reads.
void fillPacket(uint8_t *packet, const Dispatch &d, uint64_t kernarg) {
  using namespace support::endian;
  for (unsigned i = 0; i < 3; ++i) {
    write16le(packet + 4 + 2 * i, uint16_t(d.block[i]));
    write32le(packet + 12 + 4 * i, d.grid[i] * d.block[i]);
  }
  write16le(packet + 2, 3); // dimensions
  write32le(packet + 24, d.kernel->scratchBytes);
  write32le(packet + 28, d.kernel->ldsBytes + d.dynamicLdsBytes);
  write64le(packet + 40, kernarg);
}

Error check(const Dispatch &d) {
  const KernelInfo &k = *d.kernel;
  uint64_t block = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (d.grid[i] == 0 || d.block[i] == 0)
      return badDispatch(k, "a grid or block dimension is 0");
    if (d.block[i] > 1024)
      return badDispatch(k, "block dimension " + Twine(i) + ": expected at most 1024, found " +
                                Twine(d.block[i]));
    block *= d.block[i];
  }
  if (block > k.maxWorkgroup)
    return badDispatch(k, "block: expected at most " + Twine(k.maxWorkgroup) +
                              " work-items, found " + Twine(block));
  uint64_t xy = uint64_t(d.grid[0]) * d.grid[1];
  if (xy > UINT64_MAX / d.grid[2])
    return badDispatch(k, "grid: more than 2^64 workgroups");
  for (unsigned i = 0; i < 3; ++i)
    if (uint64_t(d.grid[i]) * d.block[i] > UINT32_MAX)
      return badDispatch(k, "grid dimension " + Twine(i) + ": " + Twine(d.grid[i]) +
                                " workgroups of " + Twine(d.block[i]) + " exceed 2^32 work-items");
  uint64_t lds = uint64_t(k.ldsBytes) + d.dynamicLdsBytes;
  if (lds > ldsLimit)
    return badDispatch(k,
                       "LDS: expected at most " + Twine(ldsLimit) + " bytes, found " + Twine(lds));
  uint64_t explicitEnd = 0;
  for (const KernelArg &arg : k.args)
    if (!isHidden(arg))
      explicitEnd = std::max<uint64_t>(explicitEnd, arg.offset + arg.size);
  if (d.kernarg.size() < explicitEnd || d.kernarg.size() > k.kernargBytes)
    return badDispatch(k, "kernel arguments: expected " + Twine(explicitEnd) + " to " +
                              Twine(k.kernargBytes) + " bytes, found " + Twine(d.kernarg.size()));
  return Error::success();
}

/// Hands out workgroups and collects what the threads found.
struct Shared {
  std::atomic<uint64_t> nextGroup{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  RunStats stats;
  std::unique_ptr<Fault> fault;
  uint64_t faultGroup = 0;
};

void work(DispatchContext &context, const Permutation &permutation, uint64_t groups,
          size_t resident, Shared &shared) {
  std::deque<std::unique_ptr<Workgroup>> suspended;
  std::vector<std::unique_ptr<Workgroup>> idle;
  RunStats stats;
  auto account = [&](const Workgroup &group) {
    RunStats s = group.stats();
    stats.waves += s.waves;
    stats.instructions += s.instructions;
    stats.globalBytesRead += s.globalBytesRead;
    stats.globalBytesWritten += s.globalBytesWritten;
  };
  while (!shared.stop.load(std::memory_order_relaxed)) {
    std::unique_ptr<Workgroup> group;
    if (suspended.size() < resident) {
      uint64_t index = shared.nextGroup.fetch_add(1, std::memory_order_relaxed);
      if (index < groups) {
        if (idle.empty()) {
          group = std::make_unique<Workgroup>(context);
        } else {
          group = std::move(idle.back());
          idle.pop_back();
        }
        group->start(permutation(index));
      }
    }
    if (!group) {
      if (suspended.empty())
        break;
      group = std::move(suspended.front());
      suspended.pop_front();
    }
    switch (group->resume()) {
    case Workgroup::Result::Done:
      account(*group);
      idle.push_back(std::move(group));
      break;
    case Workgroup::Result::Suspended:
      suspended.push_back(std::move(group));
      break;
    case Workgroup::Result::Faulted: {
      std::lock_guard lock(shared.mutex);
      if (!shared.fault || group->linearId() < shared.faultGroup) {
        shared.fault = group->takeFault();
        shared.faultGroup = group->linearId();
      }
      shared.stop = true;
      break;
    }
    }
  }
  std::lock_guard lock(shared.mutex);
  shared.stats.waves += stats.waves;
  shared.stats.instructions += stats.instructions;
  shared.stats.globalBytesRead += stats.globalBytesRead;
  shared.stats.globalBytesWritten += stats.globalBytesWritten;
}

} // namespace

Expected<RunStats> run(const Dispatch &dispatch, MemoryMap &memory, const RunOptions &options) {
  const KernelInfo &k = *dispatch.kernel;
  if (Error e = check(dispatch))
    return std::move(e);

  DispatchBuffers buffers(memory);
  uint8_t *kernarg = buffers.add(std::max<size_t>(k.kernargBytes, 64));
  uint8_t *packet = buffers.add(64);
  uint8_t *queue = buffers.add(256);
  if (!dispatch.kernarg.empty())
    memcpy(kernarg, dispatch.kernarg.data(), dispatch.kernarg.size());
  DispatchContext context;
  context.dispatch = &dispatch;
  context.memory = &memory;
  context.options = options;
  context.kernargAddress = reinterpret_cast<uint64_t>(kernarg);
  context.packetAddress = reinterpret_cast<uint64_t>(packet);
  context.queueAddress = reinterpret_cast<uint64_t>(queue);
  context.ldsBytes =
      (k.ldsBytes + dispatch.dynamicLdsBytes + ldsGranule - 1) / ldsGranule * ldsGranule;
  context.scratchBytes = (k.scratchBytes + 3) / 4 * 4;
  if (k.properties >> 11 & 1)
    context.scratchBytes += dynamicStackBytes;
  context.wavesPerGroup = (context.blockSize() + waveSize - 1) / waveSize;
  fillHidden(kernarg, dispatch, context.queueAddress);
  fillPacket(packet, dispatch, context.kernargAddress);

  if (options.observer)
    options.observer->begin(dispatch, memory);

  uint64_t groups = uint64_t(dispatch.grid[0]) * dispatch.grid[1] * dispatch.grid[2];
  unsigned threads = options.threads ? options.threads : std::thread::hardware_concurrency();
  threads = unsigned(std::clamp<uint64_t>(threads, 1, std::max<uint64_t>(groups, 1)));
  size_t resident = std::max<size_t>(residentWorkgroups / threads, 1);
  Permutation permutation(groups, options.seed);
  Shared shared;
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back([&] { work(context, permutation, groups, resident, shared); });
  work(context, permutation, groups, resident, shared);
  for (std::thread &t : others)
    t.join();
  if (options.observer)
    options.observer->end();
  if (shared.fault)
    return Error(std::move(shared.fault));
  return shared.stats;
}

} // namespace gfx950emu
