//===- Image.h - memory that is compared byte by byte -----------------------===//
//
// Owns: a device allocation with the bytes that it should hold after a launch.
// Both sides start from the same canary pattern, so a stray write shows wherever
// it lands; of a huge allocation only named windows are filled and compared.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_VERIFY_IMAGE_H
#define NVFP4GEN_TOOLS_VERIFY_IMAGE_H

#include "tools/verify/Target.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace verify {

struct UnmapHost {
  uint64_t bytes = 0;
  void operator()(std::byte *address) const;
};

/// Host address space that costs memory only where it is touched.
class LazyBuffer {
public:
  /// NVFP4RT_ERROR_OUT_OF_MEMORY when the system refuses.
  static nvfp4rt::Result<LazyBuffer> reserve(uint64_t bytes);
  std::byte *data() const { return memory.get(); }

private:
  std::unique_ptr<std::byte, UnmapHost> memory;
};

/// A part of an image, in bytes.
struct Window {
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// Sort, cut to [0, size) and join what touches.
std::vector<Window> mergeWindows(std::vector<Window> windows, uint64_t size);

/// `reach` bytes around an offset, and around where it lands modulo 2^32 and 2^31.
void addWithWraps(std::vector<Window> &windows, uint64_t offset, uint64_t reach);

class Image {
public:
  /// Allocate `size` > 0 bytes on both sides and fill the windows with the canary pattern.
  static nvfp4rt::Result<Image> create(Target &target, uint64_t size, std::vector<Window> windows,
                                       uint64_t seed);

  std::byte *expected() const { return host.data(); }
  std::byte *device() const { return static_cast<std::byte *>(memory.get()); }
  uint64_t windowBytes() const;

  /// Write the windows' expected bytes to the device.
  nvfp4rt::Result<void> upload(Target &target) const;
  /// Fetch the windows after a launch.
  nvfp4rt::Result<void> readBack(Target &target);
  /// Call `visit` with the offset of every byte that differs, ascending.
  void forEachMismatch(const std::function<void(uint64_t offset)> &visit) const;
  /// The fetched byte; `offset` is in a window.
  std::byte found(uint64_t offset) const;
  /// Fetched bytes; all are in one window.
  void found(uint64_t offset, void *to, uint64_t size) const;

private:
  LazyBuffer host;
  DeviceMemory memory;
  std::vector<Window> windows;
  std::vector<std::vector<std::byte>> fetched; ///< one a window
};

} // namespace verify

#endif // NVFP4GEN_TOOLS_VERIFY_IMAGE_H
