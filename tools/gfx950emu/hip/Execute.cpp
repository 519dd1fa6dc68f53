//===- Execute.cpp - running stream work ------------------------------------===//

#include "tools/gfx950emu/hip/Execute.h"
#include "tools/gfx950emu/check/Checker.h"
#include "tools/gfx950emu/check/Orders.h"
#include "tools/gfx950emu/hip/Capture.h"

#include <cstdio>
#include <cstring>
#include <optional>
#include <shared_mutex>

namespace gfx950emu::hip {

/// True if [address, address + bytes) lies in one allocation, or in none at all.
static bool withinOne(const Runtime &runtime, const void *address, size_t bytes) {
  auto begin = reinterpret_cast<uint64_t>(address);
  if (bytes > UINT64_MAX - begin)
    return false;
  if (const Allocation *allocation = runtime.allocationOf(address))
    return bytes <= allocation->base + allocation->bytes - begin;
  auto next = runtime.allocations.lower_bound(begin);
  return next == runtime.allocations.end() || begin + bytes <= next->first;
}

static hipError_t validateCopy(const Runtime &runtime, const CopyOp &copy) {
  if (copy.bytes == 0)
    return hipSuccess;
  if (!copy.dst || !copy.src || !withinOne(runtime, copy.dst, copy.bytes) ||
      !withinOne(runtime, copy.src, copy.bytes))
    return hipErrorInvalidValue;
  return hipSuccess;
}

static hipError_t validateFill(const Runtime &runtime, const FillOp &fill) {
  if (fill.count == 0)
    return hipSuccess;
  if (!runtime.allocationOf(fill.dst) ||
      !withinOne(runtime, fill.dst, fill.count * fill.elementBytes))
    return hipErrorInvalidValue;
  return hipSuccess;
}

hipError_t validate(const Runtime &runtime, const Operation &operation) {
  if (auto *copy = std::get_if<CopyOp>(&operation))
    return validateCopy(runtime, *copy);
  if (auto *fill = std::get_if<FillOp>(&operation))
    return validateFill(runtime, *fill);
  return std::get<KernelOp>(operation).module->unloaded ? hipErrorInvalidHandle : hipSuccess;
}

hipError_t reportFault(llvm::Error error) {
  hipError_t code = hipErrorLaunchFailure;
  handleAllErrors(
      std::move(error),
      [&](const Fault &fault) {
        thisThread().lastFault = faultKindName(fault.kind).str() + ": " + fault.message;
        switch (fault.kind) {
        case FaultKind::BadCodeObject:
          code = hipErrorInvalidKernelFile;
          break;
        case FaultKind::WrongArch:
          code = hipErrorNoBinaryForGpu;
          break;
        case FaultKind::OutOfBounds:
          code = hipErrorIllegalAddress;
          break;
        default:
          break;
        }
      },
      [](const llvm::ErrorInfoBase &other) { thisThread().lastFault = other.message(); });
  return code;
}

static void fillElements(const FillOp &fill) {
  if (fill.elementBytes == 1) {
    memset(fill.dst, static_cast<int>(fill.value), fill.count);
    return;
  }
  // The destination of a 16- or 32-bit fill need not be aligned.
  auto *out = static_cast<char *>(fill.dst);
  for (size_t i = 0; i < fill.count; ++i, out += fill.elementBytes)
    memcpy(out, &fill.value, fill.elementBytes);
}

/// For the check of undefined values: `dst` now holds what `src` does, or bytes of a fill when that
/// is null.
static void noteWritten(Runtime &runtime, void *dst, const void *src, size_t bytes) {
  if (!runtime.settings.checks || !runtime.settings.checks->undefined)
    return;
  std::lock_guard lock(runtime.mutex);
  const Allocation *to = runtime.allocationOf(dst);
  const Allocation *from = src ? runtime.allocationOf(src) : nullptr;
  if (!to || to->host)
    return;
  MemoryMap &map = to->device->memory;
  if (from && !from->host && from->device == to->device)
    map.copyDefined(reinterpret_cast<uint64_t>(dst), reinterpret_cast<uint64_t>(src), bytes);
  else
    map.markDefined(reinterpret_cast<uint64_t>(dst), bytes);
}

static hipError_t launch(const Settings &settings, Device &device, const Dispatch &dispatch) {
  constexpr size_t bytesShown = 4; // of each order whose result differs
  std::optional<check::Checker> checker;
  if (settings.checks)
    checker.emplace(*settings.checks);
  RunOptions options = settings.run;
  options.observer = checker ? &*checker : nullptr;
  std::string report;
  auto say = [&](const std::string &text) {
    fprintf(stderr, "gfx950emu: device %d: %s\n", device.id, text.c_str());
    report += (report.empty() ? "" : "\n") + text;
  };

  std::optional<llvm::Error> fault;
  std::vector<std::string> differences;
  if (settings.orders > 1) {
    auto result = check::runOrders(dispatch, device.memory, options, settings.orders, bytesShown,
                                   [&](size_t) { return options.observer; });
    if (!result)
      fault.emplace(result.takeError());
    else
      for (const check::OrderDifference &difference : result->differences)
        differences.push_back(
            check::orderText(dispatch, device.memory, result->seeds[0], difference));
  } else if (auto stats = run(dispatch, device.memory, options); !stats) {
    fault.emplace(stats.takeError());
  }

  if (checker) {
    for (const check::Finding &finding : checker->findings())
      say(finding.message());
    if (uint64_t more = checker->dropped())
      say(std::to_string(more) + " more findings");
    if (uint64_t skipped = checker->skippedRaceAccesses())
      fprintf(stderr,
              "gfx950emu: device %d: kernel %s: %llu global accesses were not checked for races\n",
              device.id, dispatch.kernel->name.c_str(), static_cast<unsigned long long>(skipped));
  }
  for (const std::string &difference : differences)
    say(difference);
  hipError_t code = report.empty() ? hipSuccess : hipErrorLaunchFailure;
  if (fault) {
    code = reportFault(std::move(*fault));
    say(std::string(thisThread().lastFault));
  }
  thisThread().lastFault = report;
  return code;
}

static hipError_t perform(Runtime &runtime, Stream &stream, const Operation &operation) {
  {
    std::lock_guard lock(runtime.mutex);
    if (hipError_t invalid = validate(runtime, operation); invalid != hipSuccess)
      return invalid;
  }
  if (auto *copy = std::get_if<CopyOp>(&operation)) {
    if (copy->bytes != 0) {
      memmove(copy->dst, copy->src, copy->bytes);
      noteWritten(runtime, copy->dst, copy->src, copy->bytes);
    }
    return hipSuccess;
  }
  if (auto *fill = std::get_if<FillOp>(&operation)) {
    if (fill->count != 0) {
      fillElements(*fill);
      noteWritten(runtime, fill->dst, nullptr, fill->count * fill->elementBytes);
    }
    return hipSuccess;
  }

  const auto &kernel = std::get<KernelOp>(operation);
  Dispatch dispatch;
  dispatch.object = kernel.module->object.get();
  dispatch.kernel = kernel.kernel;
  dispatch.grid = kernel.grid;
  dispatch.block = kernel.block;
  dispatch.dynamicLdsBytes = kernel.dynamicLdsBytes;
  dispatch.kernarg = kernel.kernarg;
  thisThread().lastFault.clear();
  hipError_t code = launch(runtime.settings, *stream.device, dispatch);
  if (code == hipSuccess)
    return code;
  std::lock_guard lock(runtime.mutex);
  if (stream.pending == hipSuccess)
    stream.pending = code;
  return code;
}

namespace {
/// The null stream runs alone among the blocking streams of its device.
class LegacyOrder {
public:
  explicit LegacyOrder(Stream &stream) {
    if (stream.isNull)
      alone = std::unique_lock(stream.device->legacy);
    else if (!(stream.flags & hipStreamNonBlocking))
      shared = std::shared_lock(stream.device->legacy);
  }

private:
  std::unique_lock<Gate> alone;
  std::shared_lock<Gate> shared;
};
} // namespace

hipError_t execute(Runtime &runtime, Stream &stream, llvm::ArrayRef<const Operation *> operations) {
  std::lock_guard order(stream.order);
  LegacyOrder legacy(stream);
  std::shared_lock running(runtime.gate);
  for (const Operation *operation : operations)
    if (hipError_t code = perform(runtime, stream, *operation); code != hipSuccess)
      return code;
  return hipSuccess;
}

hipError_t submit(Runtime &runtime, Stream &stream, Operation operation,
                  std::unique_lock<std::mutex> lock) {
  if (hipError_t invalid = validate(runtime, operation); invalid != hipSuccess)
    return invalid;
  if (std::optional<hipError_t> captured = captureOperation(stream, operation))
    return *captured;
  lock.unlock();
  const Operation *only = &operation;
  return execute(runtime, stream, only);
}

hipError_t synchronize(Runtime &runtime, Stream &stream) {
  {
    std::lock_guard order(stream.order);
    LegacyOrder legacy(stream);
  }
  std::lock_guard lock(runtime.mutex);
  hipError_t fault = std::exchange(stream.pending, hipSuccess);
  if (stream.isNull)
    for (const auto &[value, other] : runtime.streams.all())
      if (other->device == stream.device && !(other->flags & hipStreamNonBlocking))
        if (hipError_t its = std::exchange(other->pending, hipSuccess); its != hipSuccess)
          fault = its;
  return fault;
}

} // namespace gfx950emu::hip
