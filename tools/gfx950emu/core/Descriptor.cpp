//===- Descriptor.cpp - kernel descriptors ---------------------------------------===//

#include "tools/gfx950emu/core/Loader.h"
#include "tools/gfx950emu/core/Wave.h"

#include "llvm/Support/Endian.h"

using namespace llvm;

namespace gfx950emu {

namespace {

/// Scratch of a wave is at most 8191 KiB of 64 lanes.
constexpr uint32_t scratchLimit = 8191 * 1024 / waveSize;
constexpr uint32_t kernargLimit = 1u << 16;
constexpr unsigned userSgprLimit = 16;

uint32_t field(uint32_t value, unsigned low, unsigned count) {
  return value >> low & ((1u << count) - 1);
}

} // namespace

Error parseDescriptor(ArrayRef<uint8_t> descriptor, uint64_t address, KernelInfo &kernel) {
  std::string where = "descriptor of " + kernel.name;
  const uint8_t *p = descriptor.data();
  auto u32 = [&](unsigned offset) { return support::endian::read32le(p + offset); };
  auto reject = [&](const Twine &what, uint64_t found, const Twine &expected) {
    return badCodeObject(where + ": " + what + ": expected " + expected + ", found " +
                         Twine(found));
  };
  kernel.ldsBytes = u32(0);
  kernel.scratchBytes = u32(4);
  kernel.kernargBytes = u32(8);
  kernel.entry = address + support::endian::read64le(p + 16);
  kernel.rsrc3 = u32(44);
  kernel.rsrc1 = u32(48);
  kernel.rsrc2 = u32(52);
  kernel.properties = support::endian::read16le(p + 56);
  kernel.kernargPreload = support::endian::read16le(p + 58);
  kernel.vgprs = (field(kernel.rsrc1, 0, 6) + 1) * 8;
  kernel.accumOffset = (field(kernel.rsrc3, 0, 6) + 1) * 4;
  kernel.sgprs = (field(kernel.rsrc1, 6, 4) / 2 + 1) * 16;

  if (kernel.ldsBytes > ldsLimit)
    return reject("group segment", kernel.ldsBytes, "at most " + Twine(ldsLimit));
  if (kernel.scratchBytes > scratchLimit)
    return reject("private segment", kernel.scratchBytes, "at most " + Twine(scratchLimit));
  if (kernel.kernargBytes > kernargLimit)
    return reject("kernarg segment", kernel.kernargBytes, "at most " + Twine(kernargLimit));
  if (kernel.vgprs > vgprFile)
    return reject("VGPRs", kernel.vgprs, "at most 512");
  if (kernel.accumOffset > kernel.vgprs || kernel.accumOffset > 256)
    return reject("accum_offset", kernel.accumOffset,
                  "at most 256 and the " + Twine(kernel.vgprs) + " registers");
  for (unsigned reserved : {12u, 24u, 28u, 32u, 36u, 40u, 60u})
    if (u32(reserved))
      return reject("reserved bytes at " + Twine(reserved), u32(reserved), "0");

  unsigned props = kernel.properties;
  if (props & (1u << 0))
    return reject("private segment buffer SGPRs", 1, "0 (gfx950 has architected flat scratch)");
  if (props & (1u << 5))
    return reject("flat scratch init SGPRs", 1, "0 (gfx950 has architected flat scratch)");
  if (props & (1u << 10))
    return reject("wave32", 1, "0 (gfx950 has 64-lane waves only)");
  unsigned preload = field(kernel.kernargPreload, 0, 7), user = field(kernel.rsrc2, 1, 5);
  unsigned named = ((props >> 1 & 1) + (props >> 2 & 1) + (props >> 3 & 1) + (props >> 4 & 1)) * 2 +
                   (props >> 6 & 1) + preload;
  if (user > userSgprLimit || named > user)
    return reject("user SGPRs", user,
                  "at least the " + Twine(named) + " that are enabled and at most 16");
  if (field(kernel.rsrc2, 11, 2) == 3)
    return reject("work-item id dimensions", 3, "0 to 2");
  return Error::success();
}

} // namespace gfx950emu
