//===- StandardFiles.h - stdin, stdout and stderr of a command --------------===//
//
// Owns: that a command has all three, and knows when its results were lost.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_TOOLS_SUPPORT_STANDARDFILES_H
#define NVFP4GEN_TOOLS_SUPPORT_STANDARDFILES_H

#include <string>

namespace support {

/// Open a place for each of the three that is closed: the next file opened would take it. The
/// reason when that fails, else empty.
std::string openStandardFiles();

/// Flush what was printed, by any of stdio, iostreams and llvm::outs(). The reason when not all of
/// it reached stdout, else empty.
std::string lostOutput();

} // namespace support

#endif // NVFP4GEN_TOOLS_SUPPORT_STANDARDFILES_H
