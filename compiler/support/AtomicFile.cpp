//===- AtomicFile.cpp -------------------------------------------------------===//

#include "compiler/support/AtomicFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <unistd.h>

namespace nvfp4gen {

namespace {

llvm::Error systemError(llvm::StringRef path, const char *step, std::error_code code) {
  return llvm::createStringError(code,
                                 "cannot write '" + path + "': " + step + ": " + code.message());
}

std::error_code lastError() { return std::error_code(errno, std::generic_category()); }

} // namespace

llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef bytes) {
  // TempFile is also removed when a signal ends the process.
  llvm::Expected<llvm::sys::fs::TempFile> temp = llvm::sys::fs::TempFile::create(
      path + ".tmp-%%%%%%%%", llvm::sys::fs::all_read | llvm::sys::fs::owner_write);
  if (!temp)
    return systemError(path, "creating a temporary file beside it",
                       llvm::errorToErrorCode(temp.takeError()));
  auto discard = [&](llvm::Error error) {
    return llvm::joinErrors(std::move(error), temp->discard());
  };

  {
    llvm::raw_fd_ostream os(temp->FD, /*shouldClose=*/false);
    os << bytes;
    os.flush();
    if (os.has_error()) {
      std::error_code code = os.error();
      os.clear_error();
      return discard(systemError(path, "writing the temporary file", code));
    }
  }
  if (::fsync(temp->FD) != 0)
    return discard(systemError(path, "syncing the temporary file", lastError()));
  if (llvm::Error error = temp->keep(path)) {
    std::error_code code = llvm::errorToErrorCode(std::move(error));
    return systemError(path, "renaming the temporary file", code);
  }

  // The rename itself must survive a crash as well.
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  int fd = ::open(folder.empty() ? "." : folder.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return systemError(path, "opening its folder", lastError());
  int synced = ::fsync(fd);
  std::error_code code = lastError();
  ::close(fd);
  return synced == 0 ? llvm::Error::success() : systemError(path, "syncing its folder", code);
}

} // namespace nvfp4gen
