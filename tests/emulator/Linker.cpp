//===- Linker.cpp - relocatable AMDGPU objects to loadable code objects ----===//
//
// lld only reads and writes files, so both ends of the link go through
// temporary files that are removed at once.
//
//===------------------------------------------------------------------------===//
#include "tests/emulator/Linker.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

LLD_HAS_DRIVER(elf)

namespace gfx950emu::test {
namespace {

/// A file of the temporary directory that is gone when this object is.
struct TemporaryFile {
  explicit TemporaryFile(const char *suffix) {
    failure = llvm::sys::fs::createTemporaryFile("gfx950-test", suffix, path);
  }
  ~TemporaryFile() {
    if (!failure)
      llvm::sys::fs::remove(path);
  }
  llvm::SmallString<128> path;
  std::error_code failure;
};

} // namespace

Linked linkCodeObject(llvm::ArrayRef<char> object) {
  Linked result;
  TemporaryFile relocatable("o"), linked("hsaco");
  if (relocatable.failure || linked.failure) {
    result.error = "cannot create a temporary file for lld";
    return result;
  }
  {
    std::error_code failure;
    llvm::raw_fd_ostream out(relocatable.path, failure);
    out.write(object.data(), object.size());
  }
  llvm::raw_string_ostream diagnostics(result.error);
  const char *arguments[] = {"ld.lld", "-shared", relocatable.path.c_str(), "-o",
                             linked.path.c_str()};
  lld::Result status =
      lld::lldMain(arguments, diagnostics, diagnostics, {{lld::Gnu, &lld::elf::link}});
  if (status.retCode != 0 || !status.canRunAgain) {
    if (result.error.empty())
      result.error = "lld failed without a diagnostic";
    return result;
  }
  auto buffer = llvm::MemoryBuffer::getFile(linked.path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    result.error = "lld wrote no code object";
    return result;
  }
  llvm::StringRef bytes = (*buffer)->getBuffer();
  result.image.assign(bytes.bytes_begin(), bytes.bytes_end());
  result.error.clear();
  return result;
}

} // namespace gfx950emu::test
