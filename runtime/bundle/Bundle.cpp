//===- Bundle.cpp - open and verify a bundle --------------------------------===//
//
// See Bundle.h. What is checked of a single kernel is in KernelChecks.cpp.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/Bundle.h"

#include "runtime/bundle/KernelChecks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nvfp4rt {
namespace {

/// Closes the descriptor at the end of the scope.
struct FileDescriptor {
  int fd;
  ~FileDescriptor() {
    if (fd >= 0)
      close(fd);
  }
};

Result<std::vector<uint8_t>> readFile(const std::string &path) {
  const auto ioError = [&](std::string_view what, int error) {
    return fail(NVFP4RT_ERROR_IO, fmt::format("bundle {}: {}: expected a readable file, found: {}",
                                              path, what, std::strerror(error)));
  };
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0)
    return ioError("open", errno);
  struct stat status{};
  if (fstat(file.fd, &status) != 0)
    return ioError("stat", errno);
  if (!S_ISREG(status.st_mode))
    return fail(NVFP4RT_ERROR_IO,
                fmt::format("bundle {}: expected a regular file, found {}", path,
                            S_ISDIR(status.st_mode)
                                ? std::string("a folder")
                                : fmt::format("file type 0{:o}", status.st_mode & S_IFMT)));
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > kMaxFileBytes)
    return fail(NVFP4RT_ERROR_BAD_ELF, fmt::format("bundle {}: expected at most {} bytes, found {}",
                                                   path, kMaxFileBytes, size));
  std::vector<uint8_t> bytes(size);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::read(file.fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return ioError("read", errno);
    if (got == 0)
      return fail(
          NVFP4RT_ERROR_IO,
          fmt::format("bundle {}: expected {} bytes, found {}: the file shrank while it was "
                      "read",
                      path, bytes.size(), done));
    done += static_cast<size_t>(got);
  }
  return bytes;
}

Result<void> checkDigest(const ElfFile &elf, Bytes file) {
  const ElfSection *section = elf.section(kDigestSection);
  if (!section)
    return fail(NVFP4RT_ERROR_CHECKSUM,
                fmt::format("section {}: expected one, found none or several", kDigestSection));
  Sha256Digest stored;
  if (section->bytes.size() != stored.size())
    return fail(NVFP4RT_ERROR_CHECKSUM,
                fmt::format("section {}: expected {} bytes, found {}", kDigestSection,
                            stored.size(), section->bytes.size()));
  std::ranges::copy(section->bytes, stored.begin());
  const Sha256Digest computed = fileDigest(file, section->offset);
  if (stored != computed)
    return fail(NVFP4RT_ERROR_CHECKSUM,
                fmt::format("SHA-256 of the file: expected {} ({}), found {}", hexText(stored),
                            kDigestSection, hexText(computed)));
  return {};
}

Result<Manifest> readManifest(const ElfFile &elf) {
  const ElfSection *section = elf.section(kManifestSection);
  if (!section)
    return fail(NVFP4RT_ERROR_BAD_MANIFEST,
                fmt::format("section {}: expected one, found none or several", kManifestSection));
  const Bytes text = section->bytes;
  return parseManifest({reinterpret_cast<const char *>(text.data()), text.size()});
}

} // namespace

Sha256Digest fileDigest(Bytes file, uint64_t digestOffset) {
  const Sha256Digest zero{};
  return sha256({file.first(digestOffset), zero, file.subspan(digestOffset + zero.size())});
}

Result<Bundle> Bundle::open(std::vector<uint8_t> bytes, std::string name) {
  Bundle bundle;
  bundle.bytes_ = std::move(bytes);
  bundle.name_ = std::move(name);
  if (Result<void> ok = bundle.verify(); !ok)
    return fail(ok.error().code, fmt::format("bundle {}: {}", bundle.name_, ok.error().message));
  return bundle;
}

Result<Bundle> Bundle::openFile(const std::string &path) {
  Result<std::vector<uint8_t>> bytes = readFile(path);
  if (!bytes)
    return tl::unexpected(std::move(bytes.error()));
  return open(std::move(*bytes), path);
}

Result<void> Bundle::verify() {
  const Result<ElfFile> elf = ElfFile::parse(bytes_);
  if (!elf)
    return tl::unexpected(elf.error());
  // Before anything inside the file is believed.
  if (Result<void> ok = checkDigest(*elf, bytes_); !ok)
    return ok;
  Result<Manifest> manifest = readManifest(*elf);
  if (!manifest)
    return tl::unexpected(std::move(manifest.error()));
  manifest_ = std::move(*manifest);
  if (manifest_.arch != kArch)
    return fail(NVFP4RT_ERROR_WRONG_ARCH,
                fmt::format("manifest arch: expected {}, found {}", kArch, manifest_.arch));
  if (manifest_.codeObjectVersion != elf->codeObjectVersion())
    return fail(NVFP4RT_ERROR_VERSION,
                fmt::format("code object version: expected {} (manifest), found {} (ELF)",
                            manifest_.codeObjectVersion, elf->codeObjectVersion()));
  return checkKernels(*elf, manifest_);
}

size_t Bundle::kernelIndex(std::string_view symbol) const {
  const auto found = std::ranges::lower_bound(manifest_.kernels, symbol, {}, &Kernel::symbol);
  return static_cast<size_t>(found - manifest_.kernels.begin());
}

} // namespace nvfp4rt
