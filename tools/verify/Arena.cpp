//===- Arena.cpp - the buffers of one checked launch ------------------------===//
//
// Owns: what Arena.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/Arena.h"

#include <fmt/format.h>

namespace verify {

void Arena::fail(const Error &error) {
  if (failure)
    return;
  failure = true;
  if (mayLackRoom && error.code == NVFP4RT_ERROR_OUT_OF_MEMORY)
    noRoom = error.message;
  else
    fault(error.message);
}

Arena::Buffer Arena::add(std::string name, uint64_t size, Margins margins,
                         std::vector<Window> windows, bool isInput) {
  Entry entry{std::move(name), {}, size, margins.lead, isInput};
  const uint64_t whole = margins.lead + size + margins.trail;
  if (windows.empty())
    windows.push_back({0, whole});
  else
    for (Window &window : windows)
      window.offset += margins.lead;
  if (!failure && size > 0) {
    const uint64_t seed = job.seed + 1000 * job.report.launches + entries.size();
    auto image = Image::create(job.target, whole, std::move(windows), seed);
    if (image)
      entry.image = std::move(*image);
    else
      fail(image.error());
  }
  entries.push_back(std::move(entry));
  return entries.size() - 1;
}

Arena::Buffer Arena::input(std::string name, const void *data, uint64_t size, Margins margins,
                           std::vector<Window> windows) {
  std::vector<Window> parts = mergeWindows(windows, size);
  if (windows.empty())
    parts.push_back({0, size});
  const Buffer buffer = add(std::move(name), size, margins, std::move(windows), true);
  if (failure || size == 0)
    return buffer;
  for (const Window &part : parts)
    std::memcpy(expected<std::byte>(buffer) + part.offset,
                static_cast<const std::byte *>(data) + part.offset, part.size);
  upload(buffer);
  return buffer;
}

Arena::Buffer Arena::output(std::string name, uint64_t size, Margins margins,
                            std::vector<Window> windows) {
  return add(std::move(name), size, margins, std::move(windows), false);
}

std::byte *Arena::address(Buffer buffer, bool onDevice) const {
  const Entry &entry = entries[buffer];
  if (failure || entry.size == 0)
    return nullptr;
  return (onDevice ? entry.image.device() : entry.image.expected()) + entry.lead;
}

void Arena::upload(Buffer buffer) {
  if (failure || entries[buffer].size == 0)
    return;
  if (auto done = entries[buffer].image.upload(job.target); !done)
    fail(done.error());
}

void Arena::foundBytes(Buffer buffer, uint64_t offset, void *to, uint64_t size) const {
  const Entry &entry = entries[buffer];
  entry.image.found(entry.lead + offset, to, size);
}

void Arena::accept(Buffer buffer, uint64_t offset, uint64_t size) {
  foundBytes(buffer, offset, expected<std::byte>(buffer) + offset, size);
}

bool Arena::launchBytes(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request,
                        const void *args, size_t size) {
  if (failure)
    return false;
  ++job.report.launches;
  if (auto done = job.target.launch(variant, request, args, size); !done) {
    fail(done.error());
    return false;
  }
  for (Entry &entry : entries)
    if (entry.size > 0)
      if (auto read = entry.image.readBack(job.target); !read) {
        fail(read.error());
        return false;
      }
  return true;
}

bool Arena::compare(const Explain &explain) {
  if (failure)
    return false;
  bool same = true;
  for (Buffer buffer = 0; buffer < entries.size(); ++buffer) {
    const Entry &entry = entries[buffer];
    if (entry.size == 0)
      continue;
    job.report.bytesCompared += entry.image.windowBytes();
    bool first = true;
    entry.image.forEachMismatch([&](uint64_t offset) {
      ++job.report.mismatchingBytes;
      same = false;
      if (!std::exchange(first, false))
        return;
      const bool inside = offset >= entry.lead && offset < entry.lead + entry.size;
      const std::string words =
          explain && inside ? explain(buffer, offset - entry.lead) : std::string();
      fault(fmt::format("{}, byte {} of {}: {}expected 0x{:02x}, found 0x{:02x}", entry.name,
                        static_cast<int64_t>(offset) - static_cast<int64_t>(entry.lead), entry.size,
                        !words.empty()  ? words + ": "
                        : entry.isInput ? "an input has changed: "
                                        : "nothing may be written here: ",
                        std::to_integer<unsigned>(entry.image.expected()[offset]),
                        std::to_integer<unsigned>(entry.image.found(offset))));
    });
  }
  return same;
}

} // namespace verify
