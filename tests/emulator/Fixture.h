//===- Fixture.h - code objects and launches for the emulator's tests ----------------===//
//
// Owns the reading of compiled code objects, device buffers and kernel arguments.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_FIXTURE_H
#define TESTS_EMULATOR_FIXTURE_H

#include "tools/gfx950emu/core/Emulator.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace gfx950emu::test {

/// Bytes of `name`, compiled from tests/emulator/device (e.g. "Same.O3").
const std::vector<uint8_t> &image(const std::string &name);

/// Kind and message of an error of this library.
struct FaultText {
  FaultKind kind = FaultKind::BadCodeObject;
  std::string message;
};
FaultText faultOf(llvm::Error error);

/// Explicit kernel arguments, naturally aligned.
class Args {
public:
  template <class T> Args &add(const T &value) {
    bytes.resize((bytes.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    const uint8_t *p = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), p, p + sizeof(T));
    return *this;
  }
  llvm::ArrayRef<uint8_t> get() const { return bytes; }

private:
  std::vector<uint8_t> bytes;
};

/// How a Device runs its launches; run() unless a test binary sets another way.
using Runner = llvm::Expected<RunStats> (*)(const Dispatch &, MemoryMap &, const RunOptions &);
extern Runner runner;

/// A loaded code object with memory of its own.
class Device {
public:
  explicit Device(const std::string &name);
  ~Device();

  template <class T> T *buffer(size_t count) {
    return static_cast<T *>(memory.allocate(count * sizeof(T)));
  }
  /// Launch with defaults of one thread and ascending order.
  llvm::Expected<RunStats> launch(const std::string &kernel, std::array<uint32_t, 3> grid,
                                  std::array<uint32_t, 3> block, const Args &args);

  MemoryMap memory;
  std::unique_ptr<CodeObject> object;
  RunOptions options;
  uint32_t dynamicLdsBytes = 0;
};

/// A deterministic sequence.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint32_t next32() { return uint32_t(next() >> 32); }

private:
  uint64_t state;
};

} // namespace gfx950emu::test

#endif // TESTS_EMULATOR_FIXTURE_H
