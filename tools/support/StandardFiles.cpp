//===- StandardFiles.cpp - stdin, stdout and stderr of a command ------------===//

#include "tools/support/StandardFiles.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace support {

std::string openStandardFiles() {
  const std::error_code code = llvm::sys::Process::FixupStandardFileDescriptors();
  return code ? code.message() : "";
}

std::string lostOutput() {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (out.has_error()) {
    const std::string why = out.error().message();
    out.clear_error(); // LLVM's own report of it would end the process
    return why;
  }
  if (std::fflush(stdout) != 0) // std::cout writes through it
    return std::strerror(errno);
  return std::ferror(stdout) ? "an earlier write failed" : "";
}

} // namespace support
