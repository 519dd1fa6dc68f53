//===- Cache.cpp ------------------------------------------------------------===//

#include "compiler/bundle/Cache.h"

#include "compiler/support/AtomicFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <tuple>

namespace nvfp4gen {

namespace {

// FOLDER/v1/KK/REST: the key in hex, its first byte a folder. An entry is the magic, the digest of
// key and payload, and the payload; the key is in the digest so that an entry under another's name
// is damaged as well.
constexpr llvm::StringLiteral kVersionFolder = "v1";
constexpr llvm::StringLiteral kMagic = "nvfp4gen cache 1\n";
constexpr size_t kHeaderBytes = kMagic.size() + sizeof(CacheKey);

/// No build takes as long, so a temporary file of this age has no owner.
constexpr auto kUnfinishedAge = std::chrono::hours(1);

std::string pathOf(const std::string &folder, const CacheKey &key) {
  std::string hex = nvfp4rt::hexText(key);
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, kVersionFolder, hex.substr(0, 2), hex.substr(2));
  return std::string(path);
}

CacheKey entryDigest(const CacheKey &key, std::string_view payload) {
  return nvfp4rt::sha256({key, nvfp4rt::asBytes(payload)});
}

struct EntryFile {
  std::string path;
  uint64_t bytes;
  llvm::sys::TimePoint<> used;
  bool unfinished;
};

/// Is `name` one of ours: the rest of a key, or the temporary file of one?
bool isEntryName(llvm::StringRef name, bool &unfinished) {
  constexpr size_t kHexChars = 2 * sizeof(CacheKey) - 2;
  unfinished = name.size() > kHexChars && name.substr(kHexChars).starts_with(".tmp-");
  return (unfinished || name.size() == kHexChars) &&
         llvm::all_of(name.take_front(kHexChars), llvm::isHexDigit);
}

/// All entries of a folder. Files that vanish meanwhile belong to another build's eviction.
llvm::Expected<std::vector<EntryFile>> entriesOf(const std::string &folder) {
  std::vector<EntryFile> files;
  llvm::SmallString<128> root(folder);
  llvm::sys::path::append(root, kVersionFolder);
  std::error_code code;
  using Iterator = llvm::sys::fs::directory_iterator;
  auto isGone = [](std::error_code code) { return code == std::errc::no_such_file_or_directory; };
  for (Iterator prefix(root, code), end; !code && prefix != end; prefix.increment(code)) {
    if (llvm::sys::path::filename(prefix->path()).size() != 2)
      continue;
    std::error_code inner;
    for (Iterator file(prefix->path(), inner); !inner && file != end; file.increment(inner)) {
      bool unfinished;
      if (!isEntryName(llvm::sys::path::filename(file->path()), unfinished))
        continue;
      llvm::ErrorOr<llvm::sys::fs::basic_file_status> status = file->status();
      if (status)
        files.push_back(
            {file->path(), status->getSize(), status->getLastModificationTime(), unfinished});
    }
    if (inner && !isGone(inner))
      code = inner;
  }
  if (code && !isGone(code))
    return llvm::createStringError(code,
                                   "cache '" + folder + "': cannot list it: " + code.message());
  return files;
}

CacheUsage usageOf(llvm::ArrayRef<EntryFile> files) {
  CacheUsage usage;
  for (const EntryFile &file : files) {
    ++(file.unfinished ? usage.unfinished : usage.entries);
    usage.bytes += file.bytes;
  }
  return usage;
}

} // namespace

CacheKey cacheKey(std::initializer_list<std::string_view> parts) {
  std::string lengths;
  std::string text;
  for (std::string_view part : parts) {
    lengths += std::to_string(part.size()) + ",";
    text += part;
  }
  return nvfp4rt::sha256({nvfp4rt::asBytes(lengths), nvfp4rt::asBytes(text)});
}

std::string defaultCacheDirectory() {
  auto set = [](const char *name) {
    const char *value = std::getenv(name);
    return llvm::StringRef(value ? value : "");
  };
  if (llvm::StringRef named = set("NVFP4GEN_CACHE_DIR"); !named.empty())
    return named.str();
  // The XDG rule: a relative path in it is to be ignored.
  if (llvm::StringRef xdg = set("XDG_CACHE_HOME"); llvm::sys::path::is_absolute(xdg))
    return (xdg + "/nvfp4gen").str();
  if (llvm::StringRef home = set("HOME"); !home.empty())
    return (home + "/.cache/nvfp4gen").str();
  return {};
}

llvm::Expected<std::unique_ptr<Cache>> Cache::open(std::string directory, uint64_t maxBytes) {
  llvm::SmallString<128> root(directory);
  llvm::sys::path::append(root, kVersionFolder);
  if (std::error_code code = llvm::sys::fs::create_directories(root, /*IgnoreExisting=*/true,
                                                               llvm::sys::fs::perms::owner_all))
    return llvm::createStringError(code, "cache '" + directory +
                                             "': cannot create the folder: " + code.message());
  return std::unique_ptr<Cache>(new Cache(std::move(directory), maxBytes));
}

std::optional<std::string> Cache::load(const CacheKey &key) {
  std::string path = pathOf(folder, key);
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNull=*/false,
                                            /*IsVolatile=*/true);
  std::unique_lock lock(mutex);
  if (!buffer) {
    ++counted.misses;
    if (buffer.getError() != std::errc::no_such_file_or_directory)
      warn("cannot read '" + path + "': " + buffer.getError().message());
    return std::nullopt;
  }
  lock.unlock();

  llvm::StringRef bytes = (*buffer)->getBuffer();
  llvm::StringRef payload = bytes.substr(std::min(bytes.size(), kHeaderBytes));
  CacheKey digest = entryDigest(key, payload);
  llvm::StringRef digestText(reinterpret_cast<const char *>(digest.data()), digest.size());
  bool whole = bytes.size() >= kHeaderBytes && bytes.starts_with(kMagic) &&
               bytes.substr(kMagic.size(), digest.size()) == digestText;
  if (whole)
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // of a folder we may not write, order is moot
  lock.lock();
  if (!whole) {
    ++counted.misses;
    ++counted.damaged;
    warn("entry '" + path + "' is damaged; it is removed and compiled again");
    std::ignore = llvm::sys::fs::remove(path);
    return std::nullopt;
  }
  ++counted.hits;
  return payload.str();
}

void Cache::store(const CacheKey &key, llvm::StringRef payload) {
  if (kHeaderBytes + payload.size() > maxBytes)
    return; // it would be evicted at once
  std::string path = pathOf(folder, key);
  std::string bytes(kMagic);
  CacheKey digest = entryDigest(key, payload);
  bytes.append(reinterpret_cast<const char *>(digest.data()), digest.size());
  bytes += payload;
  std::error_code code =
      llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path),
                                        /*IgnoreExisting=*/true, llvm::sys::fs::perms::owner_all);
  llvm::Error error = code ? llvm::createStringError(code, "cannot create the folder of '" + path +
                                                               "': " + code.message())
                           : writeFileAtomically(path, bytes);
  std::lock_guard lock(mutex);
  if (error)
    warn(llvm::toString(std::move(error)));
  else
    ++counted.stored;
}

void Cache::trim() {
  llvm::Expected<std::vector<EntryFile>> files = entriesOf(folder);
  std::lock_guard lock(mutex);
  if (!files)
    return warn(llvm::toString(files.takeError()));
  auto now = std::chrono::system_clock::now();
  std::erase_if(*files, [&](const EntryFile &file) {
    if (!file.unfinished)
      return false;
    if (now - file.used > kUnfinishedAge)
      std::ignore = llvm::sys::fs::remove(file.path);
    return true;
  });
  uint64_t bytes = usageOf(*files).bytes;
  llvm::sort(*files, [](const auto &a, const auto &b) { return a.used < b.used; });
  for (const EntryFile &file : *files) {
    if (bytes <= maxBytes)
      break;
    if (std::error_code code = llvm::sys::fs::remove(file.path))
      return warn("cannot remove '" + file.path + "': " + code.message());
    bytes -= file.bytes;
    ++counted.evicted;
  }
}

CacheCounters Cache::counters() const {
  std::lock_guard lock(mutex);
  return counted;
}

std::vector<std::string> Cache::warnings() const {
  std::lock_guard lock(mutex);
  return warned;
}

void Cache::warn(std::string text) {
  // A folder without space or rights fails every entry; the first says it all.
  constexpr size_t kMaxWarnings = 3;
  if (warned.size() < kMaxWarnings)
    warned.push_back("cache '" + folder + "': " + std::move(text));
}

llvm::Expected<CacheUsage> Cache::usage(const std::string &directory) {
  llvm::Expected<std::vector<EntryFile>> files = entriesOf(directory);
  if (!files)
    return files.takeError();
  return usageOf(*files);
}

llvm::Expected<CacheUsage> Cache::clear(const std::string &directory) {
  llvm::Expected<std::vector<EntryFile>> files = entriesOf(directory);
  if (!files)
    return files.takeError();
  for (const EntryFile &file : *files)
    if (std::error_code code = llvm::sys::fs::remove(file.path))
      return llvm::createStringError(code, "cache '" + directory + "': cannot remove '" +
                                               file.path + "': " + code.message());
  return usageOf(*files);
}

} // namespace nvfp4gen
