//===- Emulator.h - the gfx950 emulator as a library ------------------------===//
//
// Loads a code object, decodes its kernels once through LLVM's MC disassembler
// and runs dispatches on CPU threads. Nothing here knows of nvfp4gen's bundles or
// templates: any gfx950 code object runs.
//
// Addresses: device addresses ARE host addresses. Every access of emulated code
// is checked against a MemoryMap, so only registered allocations can be reached.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_CORE_EMULATOR_H
#define GFX950EMU_CORE_EMULATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

namespace gfx950emu {

/// What went wrong; `emu::Fault` in messages and in exit codes of the tools.
enum class FaultKind : uint8_t {
  BadCodeObject,      ///< malformed ELF, descriptor or metadata
  WrongArch,          ///< an AMDGPU code object for another processor
  BadDispatch,        ///< launch geometry or kernel arguments do not fit the kernel
  UnknownInstruction, ///< decodes, but has no handler; or does not decode at all
  OutOfBounds,        ///< access outside every allocation, or across the end of one
  Misaligned,
  BadBranch,       ///< control transfer outside the kernel's code
  BudgetExhausted, ///< more wave instructions than RunOptions::maxInstructions
  Trap,            ///< s_trap
  BadRegister,     ///< a register beyond those that the kernel descriptor allocates
};

llvm::StringRef faultKindName(FaultKind kind);

/// The error type of everything in this library.
class Fault : public llvm::ErrorInfo<Fault> {
public:
  static char ID;
  Fault(FaultKind kind, std::string message) : kind(kind), message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  FaultKind kind;
  /// Names kernel, workgroup, wave, lane, pc and disassembly where they apply, and both sides of
  /// a mismatch.
  std::string message;
};

/// Allocations that emulated code may touch. Thread-safe; but a region that a running dispatch may
/// reach must not be released or removed before the dispatch ends (waves remember where they may
/// go).
class MemoryMap {
public:
  struct Region {
    uint64_t base = 0;
    uint64_t size = 0; ///< bytes
    bool writable = true;
    bool owned = false; ///< mapped by allocate(), unmapped by release()
    /// A byte a byte: not 0 when it was written. Null: everything counts as written.
    uint8_t *defined = nullptr;
  };

  MemoryMap() = default;
  ~MemoryMap();
  MemoryMap(const MemoryMap &) = delete;
  MemoryMap &operator=(const MemoryMap &) = delete;

  /// Reserve `size` > 0 bytes, page-aligned, zero-filled lazily by the OS (a pool of many GiB costs
  /// only the pages that are touched). Null when the OS refuses.
  void *allocate(uint64_t size);
  /// Free an address that allocate() returned; false if it is not one.
  bool release(void *base);
  /// Register memory owned by someone else (code, kernarg); the caller keeps it alive. `defined` is
  /// that of a region of another map; null counts as all written.
  void add(uint64_t base, uint64_t size, bool writable, uint8_t *defined = nullptr);
  void remove(uint64_t base);
  /// The region that holds `address`, if any.
  std::optional<Region> find(uint64_t address) const;
  /// The region that holds `address`, else the one with the least distance to it; for messages.
  std::optional<Region> nearest(uint64_t address) const;
  /// From now on allocate() remembers which bytes were written; they start as unwritten. Kernels
  /// mark what they write only under a checker, the host with the functions below.
  void trackDefined() { tracking = true; }
  bool tracksDefined() const { return tracking; }
  /// The host wrote [address, address + bytes). What is in no tracked region is passed over.
  void markDefined(uint64_t address, uint64_t bytes);
  /// The host copied `bytes` from `source` to `target`.
  void copyDefined(uint64_t target, uint64_t source, uint64_t bytes);
  /// Total bytes of owned regions.
  uint64_t allocatedBytes() const;

private:
  mutable std::shared_mutex mutex;
  std::map<uint64_t, Region> regions; ///< by base; disjoint
  bool tracking = false;
};

struct KernelArg {
  std::string valueKind; ///< "global_buffer", "by_value", "hidden_block_count_x", ...
  uint32_t offset = 0;
  uint32_t size = 0;
};

/// A kernel of a loaded code object: descriptor fields and metadata.
struct KernelInfo {
  std::string name;
  uint64_t entry = 0; ///< address of the first instruction
  uint32_t codeBytes = 0;
  uint32_t ldsBytes = 0;     ///< static group segment
  uint32_t scratchBytes = 0; ///< per lane
  uint32_t kernargBytes = 0;
  uint32_t vgprs = 0; ///< unified total allocated
  uint32_t accumOffset = 0;
  uint32_t sgprs = 0;
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;
  uint16_t kernargPreload = 0;
  uint32_t maxWorkgroup = 1024; ///< .max_flat_workgroup_size
  std::vector<KernelArg> args;  ///< explicit and hidden, in metadata order; empty without metadata
};

class DecodedProgram; // instructions of a code object, decoded once

class CodeObject {
public:
  /// Map and decode `image`; the bytes are copied. The code object's segments are registered in
  /// `memory` (read-only for .text) until it is destroyed; `memory` must outlive it.
  static llvm::Expected<std::unique_ptr<CodeObject>> load(llvm::ArrayRef<uint8_t> image,
                                                          MemoryMap &memory);
  ~CodeObject();

  const std::vector<KernelInfo> &kernels() const;
  const KernelInfo *find(llvm::StringRef name) const;
  const DecodedProgram &program() const;

private:
  CodeObject();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

struct Dispatch {
  const CodeObject *object = nullptr;
  const KernelInfo *kernel = nullptr;
  std::array<uint32_t, 3> grid{1, 1, 1};  ///< workgroups
  std::array<uint32_t, 3> block{1, 1, 1}; ///< work-items of a workgroup
  uint32_t dynamicLdsBytes = 0;
  /// Explicit kernel arguments; hidden arguments are filled in by run().
  llvm::ArrayRef<uint8_t> kernarg;
};

class DispatchObserver; // Observer.h

struct RunOptions {
  unsigned threads = 0;                        ///< 0 = hardware concurrency
  uint64_t seed = 0;                           ///< permutes workgroup and wave order; 0 = ascending
  uint64_t maxInstructions = 100'000'000'000u; ///< wave instructions a dispatch
  DispatchObserver *observer = nullptr;        ///< watches the run; null costs nothing
};

/// Counted over a dispatch; sums do not depend on threads or seed.
struct RunStats {
  uint64_t waves = 0;
  uint64_t instructions = 0; ///< wave instructions
  uint64_t globalBytesRead = 0;
  uint64_t globalBytesWritten = 0;
};

/// Run a dispatch to its end. On a fault the remaining work is dropped and the first fault (in
/// workgroup order among those seen) is returned; memory keeps what was written until then.
llvm::Expected<RunStats> run(const Dispatch &dispatch, MemoryMap &memory,
                             const RunOptions &options);

} // namespace gfx950emu

#endif // GFX950EMU_CORE_EMULATOR_H
