//===- Image.cpp - memory that is compared byte by byte ---------------------===//
//
// Owns: what Image.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/Image.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace verify {

nvfp4rt::Result<LazyBuffer> LazyBuffer::reserve(uint64_t bytes) {
  void *address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    return nvfp4rt::fail(NVFP4RT_ERROR_OUT_OF_MEMORY,
                         fmt::format("host: cannot reserve {} bytes", bytes));
  LazyBuffer buffer;
  buffer.memory = {static_cast<std::byte *>(address), UnmapHost{bytes}};
  return buffer;
}

void UnmapHost::operator()(std::byte *address) const { munmap(address, bytes); }

std::vector<Window> mergeWindows(std::vector<Window> windows, uint64_t size) {
  std::sort(windows.begin(), windows.end(),
            [](const Window &a, const Window &b) { return a.offset < b.offset; });
  std::vector<Window> merged;
  for (Window window : windows) {
    if (window.offset >= size)
      continue;
    uint64_t end = window.offset + std::min(window.size, size - window.offset);
    if (!merged.empty() && window.offset <= merged.back().offset + merged.back().size)
      merged.back().size =
          std::max(end, merged.back().offset + merged.back().size) - merged.back().offset;
    else
      merged.push_back({window.offset, end - window.offset});
  }
  return merged;
}

/// Bytes that look random and differ from place to place, so that a copy of a canary is no canary.
static void fillCanary(std::byte *to, uint64_t offset, uint64_t size, uint64_t seed) {
  for (uint64_t i = 0; i < size; ++i) {
    uint64_t z = (offset + i + seed) * 0x9E3779B97F4A7C15u;
    to[i] = static_cast<std::byte>(z >> 56);
  }
}

void addWithWraps(std::vector<Window> &windows, uint64_t offset, uint64_t reach) {
  for (uint64_t at : {offset, offset & 0xFFFFFFFFu, offset & 0x7FFFFFFFu}) {
    const uint64_t begin = at > reach ? at - reach : 0;
    windows.push_back({begin, at + reach - begin});
  }
}

nvfp4rt::Result<Image> Image::create(Target &target, uint64_t size, std::vector<Window> windows,
                                     uint64_t seed) {
  auto host = LazyBuffer::reserve(size);
  if (!host)
    return tl::unexpected(std::move(host.error()));
  auto memory = DeviceMemory::allocate(target, size);
  if (!memory)
    return tl::unexpected(std::move(memory.error()));
  Image image;
  image.host = std::move(*host);
  image.memory = std::move(*memory);
  image.windows = mergeWindows(std::move(windows), size);
  for (const Window &window : image.windows)
    fillCanary(image.expected() + window.offset, window.offset, window.size, seed);
  if (auto written = image.upload(target); !written)
    return tl::unexpected(std::move(written.error()));
  return image;
}

uint64_t Image::windowBytes() const {
  uint64_t bytes = 0;
  for (const Window &window : windows)
    bytes += window.size;
  return bytes;
}

nvfp4rt::Result<void> Image::readBack(Target &target) {
  fetched.clear();
  for (const Window &window : windows) {
    fetched.emplace_back(window.size);
    if (auto read = target.read(fetched.back().data(), device() + window.offset, window.size);
        !read)
      return read;
  }
  return {};
}

void Image::forEachMismatch(const std::function<void(uint64_t)> &visit) const {
  for (size_t w = 0; w < windows.size(); ++w) {
    const std::byte *want = expected() + windows[w].offset;
    if (std::memcmp(want, fetched[w].data(), windows[w].size) == 0)
      continue;
    for (uint64_t i = 0; i < windows[w].size; ++i)
      if (want[i] != fetched[w][i])
        visit(windows[w].offset + i);
  }
}

nvfp4rt::Result<void> Image::upload(Target &target) const {
  for (const Window &window : windows)
    if (auto written =
            target.write(device() + window.offset, expected() + window.offset, window.size);
        !written)
      return written;
  return {};
}

std::byte Image::found(uint64_t offset) const {
  std::byte byte;
  found(offset, &byte, 1);
  return byte;
}

void Image::found(uint64_t offset, void *to, uint64_t size) const {
  auto after = std::upper_bound(windows.begin(), windows.end(), offset,
                                [](uint64_t o, const Window &window) { return o < window.offset; });
  size_t w = static_cast<size_t>(after - windows.begin()) - 1;
  std::memcpy(to, fetched[w].data() + (offset - windows[w].offset), size);
}

} // namespace verify
