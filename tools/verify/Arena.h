//===- Arena.h - the buffers of one checked launch --------------------------===//
//
// Owns: inputs and outputs of a launch on the device with canaries around them,
// the launch, and the comparison of every byte that it may or may not have changed.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_ARENA_H
#define NVFP4GEN_TOOLS_VERIFY_ARENA_H

#include "tools/verify/FamilyChecks.h"
#include "tools/verify/Image.h"

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace verify {

/// Buffers of one launch. The first error sticks; after it every call does nothing.
class Arena {
public:
  using Buffer = size_t;
  /// Canary bytes around a buffer. `lead` sets the alignment: buffers start at a multiple of 256,
  /// plus `lead`.
  struct Margins {
    uint64_t lead = 64, trail = 64;
  };

  /// `where` names the launch in messages. A launch that `mayLackRoom` has no fault when the target
  /// has no memory for its buffers.
  Arena(Job &job, std::string where, bool mayLackRoom = false)
      : job(job), where(std::move(where)), mayLackRoom(mayLackRoom) {}

  /// Why the launch did not run: the target has no memory for it, which it may lack.
  const std::optional<std::string> &lackedRoom() const { return noRoom; }

  /// A copy of `size` bytes that the launch must not change; no bytes make a null address. Of a
  /// huge input only the `windows` are copied and compared.
  Buffer input(std::string name, const void *data, uint64_t size, Margins margins = {64, 64},
               std::vector<Window> windows = {});
  template <typename T>
  Buffer input(std::string name, const std::vector<T> &data, Margins margins = {64, 64}) {
    return input(std::move(name), data.data(), data.size() * sizeof(T), margins);
  }
  /// `size` bytes that the launch may write; of a huge output only the `windows` are compared.
  Buffer output(std::string name, uint64_t size, Margins margins = {64, 64},
                std::vector<Window> windows = {});

  /// For kernel arguments. Null after an error.
  template <typename T> T *device(Buffer buffer) const {
    return reinterpret_cast<T *>(address(buffer, /*onDevice=*/true));
  }
  /// What the buffer should hold: canaries until the oracle has written. Null after an error.
  template <typename T> T *expected(Buffer buffer) const {
    return reinterpret_cast<T *>(address(buffer, /*onDevice=*/false));
  }
  /// After launch(): what the device has at `offset` of a buffer.
  template <typename T> T found(Buffer buffer, uint64_t offset) const {
    T value;
    foundBytes(buffer, offset, &value, sizeof(value));
    return value;
  }
  /// Expect what was found: for values that a tolerance has accepted.
  void accept(Buffer buffer, uint64_t offset, uint64_t size);

  /// Launch and fetch everything. False on an error, which is a fault of the job.
  template <typename Args>
  bool launch(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request, const Args &args) {
    return launchBytes(variant, request, &args, sizeof(args));
  }

  /// Words for a byte of a buffer that is not as expected; empty where there are none.
  using Explain = std::function<std::string(Buffer buffer, uint64_t offset)>;
  /// Compare all buffers, count, and report the first difference. True when there is none.
  bool compare(const Explain &explain = {});

  /// A fault of this launch: where and what.
  void fault(const std::string &what) const { job.fault(where + ": " + what); }

private:
  struct Entry {
    std::string name;
    Image image;
    uint64_t size = 0, lead = 0;
    bool isInput = false;
  };

  Job &job;
  std::string where;
  bool mayLackRoom;
  std::optional<std::string> noRoom;
  std::vector<Entry> entries;
  bool failure = false;

  void fail(const Error &error);
  void upload(Buffer buffer);
  Buffer add(std::string name, uint64_t size, Margins margins, std::vector<Window> windows,
             bool isInput);
  std::byte *address(Buffer buffer, bool onDevice) const;
  void foundBytes(Buffer buffer, uint64_t offset, void *to, uint64_t size) const;
  bool launchBytes(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request,
                   const void *args, size_t size);
};

} // namespace verify

#endif // NVFP4GEN_TOOLS_VERIFY_ARENA_H
