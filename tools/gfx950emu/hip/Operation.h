//===- Operation.h - work that a stream runs --------------------------------===//
//
// Owns the description of one piece of stream work. The same value is run at once
// on an ordinary stream or kept as a graph node while capturing; all it needs is
// copied into it when the API call is made, except the memory it works on.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_HIP_OPERATION_H
#define GFX950EMU_HIP_OPERATION_H

#include "tools/gfx950emu/core/Emulator.h"

#include <array>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace gfx950emu::hip {

struct Module;

struct KernelOp {
  std::shared_ptr<Module> module; ///< keeps the code alive, also after hipModuleUnload
  const KernelInfo *kernel = nullptr;
  std::array<uint32_t, 3> grid{}; ///< workgroups
  std::array<uint32_t, 3> block{};
  uint32_t dynamicLdsBytes = 0;
  std::vector<uint8_t> kernarg; ///< explicit arguments
};

struct CopyOp {
  void *dst = nullptr;
  const void *src = nullptr;
  size_t bytes = 0;
};

struct FillOp {
  void *dst = nullptr;
  uint32_t value = 0;
  unsigned elementBytes = 1; ///< 1, 2 or 4
  size_t count = 0;          ///< elements; count * elementBytes does not overflow
};

using Operation = std::variant<KernelOp, CopyOp, FillOp>;

} // namespace gfx950emu::hip

#endif // GFX950EMU_HIP_OPERATION_H
