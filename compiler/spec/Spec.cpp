//===- Spec.cpp - the error of a spec, and reading one from a file ----------===//
//
// Owns SpecError's text form and everything that can go wrong before there is
// text to parse.
//
//===------------------------------------------------------------------------===//
#include "compiler/spec/Spec.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

namespace nvfp4gen {

char SpecError::ID = 0;

void SpecError::log(llvm::raw_ostream &os) const {
  llvm::interleave(
      diagnostics, os,
      [&](const SpecDiagnostic &diagnostic) {
        os << diagnostic.path << ':';
        if (diagnostic.line != 0)
          os << diagnostic.line << ':' << diagnostic.column << ':';
        os << " error: " << diagnostic.message;
      },
      "\n");
}

std::error_code SpecError::convertToErrorCode() const {
  return std::make_error_code(std::errc::invalid_argument);
}

bool Spec::hasPlane(Plane plane) const { return llvm::is_contained(cache.planes, plane); }

int64_t Spec::maxBlocks() const {
  // Written without maxContext + blockSize - 1, which may not fit.
  return serving.maxContext == 0 ? 0 : (serving.maxContext - 1) / model.blockSize + 1;
}

static llvm::Error fileError(llvm::StringRef path, std::string message) {
  SpecDiagnostic diagnostic;
  diagnostic.path = path.str();
  diagnostic.message = std::move(message);
  return llvm::make_error<SpecError>(std::vector{std::move(diagnostic)});
}

llvm::Expected<Spec> loadSpec(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return fileError(path, "expected a readable file, found: " + code.message());
  // A pipe would block, and a device has no size to check.
  if (!llvm::sys::fs::is_regular_file(status))
    return fileError(path, llvm::sys::fs::is_directory(status)
                               ? "expected a regular file, found a directory"
                               : "expected a regular file, found a special file");
  if (status.getSize() > kMaxSpecBytes)
    return fileError(path, fmt::format("expected at most {} bytes, found {} bytes", kMaxSpecBytes,
                                       status.getSize()));
  // Volatile: read, never mapped, so that a file cut short meanwhile is no fault signal.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!buffer)
    return fileError(path, "expected a readable file, found: " + buffer.getError().message());
  return parseSpec((*buffer)->getBuffer(), path);
}

} // namespace nvfp4gen
