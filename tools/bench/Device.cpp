//===- Device.cpp - a bundle on the emulator, its launches counted ------------===//
//
// Owns: what Device.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/bench/Device.h"

#include "runtime/args/ArgLayout.h"
#include "runtime/plan/LaunchShape.h"
#include "runtime/plan/Select.h"
#include "tools/gfx950emu/count/Counter.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace bench {

using gfx950emu::Dispatch;
using nvfp4rt::Field;
using nvfp4rt::Variant;

namespace {

/// The text of an emulator's error, its kind first.
std::string faultText(llvm::Error error) {
  std::string text;
  llvm::handleAllErrors(
      std::move(error),
      [&](const gfx950emu::Fault &fault) {
        text = gfx950emu::faultKindName(fault.kind).str() + ": " + fault.message;
      },
      [&](const llvm::ErrorInfoBase &other) { text = other.message(); });
  return text;
}

} // namespace

uint64_t Measurement::bytesRead() const {
  uint64_t sum = 0;
  for (const BufferTraffic &buffer : buffers)
    sum += buffer.read;
  return sum;
}

uint64_t Measurement::bytesWritten() const {
  uint64_t sum = 0;
  for (const BufferTraffic &buffer : buffers)
    sum += buffer.written;
  return sum;
}

Result<Measurement> measure(const Dispatch &dispatch, gfx950emu::MemoryMap &memory,
                            std::vector<BufferTraffic> buffers, const Traffic::Progress &progress) {
  const auto start = std::chrono::steady_clock::now();
  gfx950emu::count::Counter counter;
  Traffic traffic(std::move(buffers), progress);
  gfx950emu::ObserverList observers({&counter, &traffic});
  gfx950emu::RunOptions options;
  options.observer = &observers;
  if (auto stats = gfx950emu::run(dispatch, memory, options); !stats)
    return nvfp4rt::fail(NVFP4RT_ERROR_INTERNAL,
                         fmt::format("kernel {} on the emulator: {}", dispatch.kernel->name,
                                     faultText(stats.takeError())));
  Measurement result;
  result.symbol = dispatch.kernel->name;
  result.counts = counter.results().front();
  result.cost =
      gfx950emu::count::estimateCost(result.counts, *dispatch.kernel, dispatch.dynamicLdsBytes);
  result.buffers = traffic.buffers();
  std::erase_if(result.buffers,
                [](const BufferTraffic &buffer) { return buffer.read + buffer.written == 0; });
  std::sort(result.buffers.begin(), result.buffers.end(),
            [](const BufferTraffic &a, const BufferTraffic &b) { return a.name < b.name; });
  result.argumentBytes = traffic.outsideBytes();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  std::swap(device, other.device);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

Buffer::~Buffer() {
  if (!address)
    return;
  device->buffers.erase(reinterpret_cast<uint64_t>(address));
  device->memory.release(address);
}

Result<std::unique_ptr<Device>> Device::open(const nvfp4rt::Bundle &bundle) {
  std::unique_ptr<Device> device(new Device(bundle));
  auto object = gfx950emu::CodeObject::load(
      llvm::ArrayRef<uint8_t>(bundle.bytes().data(), bundle.bytes().size()), device->memory);
  if (!object)
    return nvfp4rt::fail(NVFP4RT_ERROR_BAD_ELF,
                         fmt::format("bundle {}: the emulator refuses it: {}", bundle.name(),
                                     faultText(object.takeError())));
  device->object = std::move(*object);
  return device;
}

Result<Buffer> Device::allocate(std::string name, uint64_t bytes) {
  Buffer buffer;
  if (bytes == 0)
    return buffer;
  void *address = memory.allocate(bytes);
  if (!address)
    return nvfp4rt::fail(NVFP4RT_ERROR_OUT_OF_MEMORY,
                         fmt::format("{}: {} bytes: the system refuses them", name, bytes));
  buffer.device = this;
  buffer.address = static_cast<std::byte *>(address);
  buffer.bytes = bytes;
  buffers[reinterpret_cast<uint64_t>(address)] = {std::move(name), bytes};
  return buffer;
}

Result<const Variant *> Device::select(std::string_view family, const Shape &shape) const {
  auto phase = nvfp4rt::symbolValue(Field::phase, shape.phase);
  if (!phase)
    return tl::unexpected(std::move(phase.error()));
  const std::pair<Field, int64_t> step[] = {{Field::phase, *phase},
                                            {Field::query_len, shape.queryLen},
                                            {Field::requests, shape.requests()}};
  for (const Variant &variant : bundle_.manifest().variants) {
    if (variant.family != family)
      continue;
    const bool serves = std::all_of(std::begin(step), std::end(step), [&](const auto &field) {
      const nvfp4rt::Term *term = variant.guard.find(field.first);
      return term && term->holds(field.second);
    });
    if (!serves)
      continue;
    // What a server would ask for, answered by the runtime's own matcher (G2).
    nvfp4rt::Request request;
    for (const nvfp4rt::Term &term : variant.guard.terms)
      request.set(term.field, term.values.front());
    for (const auto &[field, value] : step)
      request.set(field, value);
    return nvfp4rt::selectVariant(bundle_, family, request);
  }
  return nvfp4rt::fail(NVFP4RT_ERROR_NO_MATCH,
                       fmt::format("no variant of {} for phase {}, query_len {}, requests {}",
                                   family, shape.phase, shape.queryLen, shape.requests()));
}

Result<void> Device::launch(const Variant &variant, const void *args, Measurement *measurement) {
  const nvfp4rt::Kernel &kernel = bundle_.manifest().kernels[bundle_.kernelIndex(variant.symbol)];
  const nvfp4rt::LaunchShape shape(kernel);
  auto groups = shape.workgroups(args, variant.name);
  if (!groups)
    return tl::unexpected(std::move(groups.error()));
  Dispatch dispatch;
  dispatch.object = object.get();
  dispatch.kernel = object->find(variant.symbol);
  dispatch.grid = *groups;
  dispatch.block = shape.block();
  dispatch.kernarg = {static_cast<const uint8_t *>(nvfp4rt::argSegment(args)),
                      shape.segmentBytes()};
  if (!dispatch.kernel)
    return nvfp4rt::fail(NVFP4RT_ERROR_BAD_ELF,
                         fmt::format("the emulator found no kernel {}", variant.symbol));
  const uint64_t total = uint64_t{(*groups)[0]} * (*groups)[1] * (*groups)[2];
  if (!measurement) {
    if (total == 0)
      return {};
    if (auto stats = gfx950emu::run(dispatch, memory, {}); !stats)
      return nvfp4rt::fail(NVFP4RT_ERROR_INTERNAL,
                           fmt::format("kernel {} on the emulator: {}", variant.symbol,
                                       faultText(stats.takeError())));
    return {};
  }
  if (total == 0)
    return nvfp4rt::fail(
        NVFP4RT_ERROR_INVALID_ARGUMENT,
        fmt::format("launch of {}: expected workgroups, found none", variant.name));
  std::vector<BufferTraffic> named;
  named.reserve(buffers.size());
  for (const auto &[address, buffer] : buffers)
    named.push_back({buffer.name, address, buffer.size, 0, 0});
  auto measured = bench::measure(dispatch, memory, std::move(named), [&](uint64_t done) {
    if (progress)
      progress(done, total);
  });
  if (!measured)
    return tl::unexpected(std::move(measured.error()));
  *measurement = std::move(*measured);
  measurement->variant = variant.name;
  return {};
}

Result<int64_t> configOf(const Variant &variant, Field field) {
  const nvfp4rt::Term *term = variant.guard.find(field);
  if (term && term->relation == nvfp4rt::Relation::Equal)
    return term->values.front();
  return nvfp4rt::fail(NVFP4RT_ERROR_UNKNOWN_FIELD,
                       fmt::format("guard of {}: expected one value of {}, found {}", variant.name,
                                   nvfp4rt::fieldName(field), term ? term->text() : "none"));
}

} // namespace bench
