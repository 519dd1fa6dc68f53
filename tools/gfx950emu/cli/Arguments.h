//===- Arguments.h - kernel arguments from the command line -----------------===//
//
// Owns the syntax of `--arg`, the check of an argument list against a kernel's
// metadata, and the buffers behind it.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CLI_ARGUMENTS_H
#define GFX950EMU_CLI_ARGUMENTS_H

#include "tools/gfx950emu/core/Emulator.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gfx950emu::cli {

/// The command line is wrong, or does not fit the kernel.
class UsageError : public llvm::ErrorInfo<UsageError> {
public:
  static char ID;
  explicit UsageError(std::string text) : text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  std::string text;
};

/// One `--arg`, before it meets a kernel.
struct ArgSpec {
  enum class Kind {
    Input,  ///< buf:FILE, read-only for the kernel
    InOut,  ///< buf:FILE:rw, written back to the file
    Output, ///< out:FILE:BYTES
    Null,   ///< null
    Value,  ///< i8, i16, i32, i64, f32, f64 or bytes:HEX
  };
  Kind kind = Kind::Null;
  std::string text; ///< as given, for messages
  std::string file;
  uint64_t bytes = 0;         ///< Output
  std::vector<uint8_t> value; ///< Value, little-endian

  bool isBuffer() const { return kind != Kind::Null && kind != Kind::Value; }
};

/// Where the syntax is explained to the user.
extern const char argSyntax[];

llvm::Expected<ArgSpec> parseArg(llvm::StringRef text);

/// A kernel's arguments, in memory that the kernel can reach. `memory` must outlive it.
class Arguments {
public:
  /// Check `specs` against the explicit arguments in the metadata of `kernel`, and read the files.
  static llvm::Expected<Arguments> bind(const KernelInfo &kernel, llvm::ArrayRef<ArgSpec> specs,
                                        MemoryMap &memory);
  Arguments(Arguments &&other) noexcept;
  Arguments &operator=(Arguments &&) = delete;
  ~Arguments();

  /// Bring every buffer to its state before the run; bytes of outputs become `fill`.
  void reset(uint8_t fill);

  struct Buffer {
    ArgSpec spec;
    uint8_t *data = nullptr;
    uint64_t bytes = 0;
    std::vector<uint8_t> initial; ///< contents of the file; empty for Output
  };
  llvm::ArrayRef<Buffer> buffers() const { return all; }
  llvm::ArrayRef<uint8_t> kernarg() const { return packed; }

private:
  explicit Arguments(MemoryMap &memory) : memory(&memory) {}
  llvm::Expected<const Buffer *> addBuffer(const ArgSpec &spec);

  MemoryMap *memory;
  std::vector<Buffer> all;
  std::vector<uint8_t> packed;
};

/// Half-open ranges of bytes that kept both fills: `first` is an output after a run on 0x00,
/// `second` after the same run on 0xff. What the kernel writes is the same in both.
std::vector<std::pair<uint64_t, uint64_t>> unwrittenRanges(llvm::ArrayRef<uint8_t> first,
                                                           llvm::ArrayRef<uint8_t> second);

} // namespace gfx950emu::cli

#endif // GFX950EMU_CLI_ARGUMENTS_H
