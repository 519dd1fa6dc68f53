//===- Smem.cpp - scalar memory ----------------------------------------------------------===//

#include "tools/gfx950emu/exec/Guest.h"

GFX950EMU_EXEC_BEGIN

namespace {

constexpr uint32_t paramBuffer = 0x100;

/// param: dwords, plus paramBuffer when the base is a buffer resource.
const Inst *load(Wave &wave, const Inst *in) {
  uint32_t bytes = (in->op->param & 0xff) * 4;
  uint64_t offset = uint64_t(int64_t(in->imm));
  if (in->smask.present())
    offset += wave.read32(in->smask);
  uint64_t address = wave.read64(in->src[0]);
  if (in->op->param & paramBuffer) {
    // Resource words: base [47:0], stride, number of records. Past the end loads zero, dword by
    // dword.
    uint64_t records = wave.sgpr[in->src[0].index + 2];
    address &= 0xffffffffffff;
    for (uint32_t i = 0; i < bytes; i += 4) {
      uint64_t at = (offset & ~uint64_t(3)) + i;
      uint32_t value = 0;
      if (at + 4 <= records) {
        if (!wave.reach(in, address + at, 4, false, -1))
          return nullptr;
        loadGuest(&value, reinterpret_cast<const void *>(address + at), 4);
        wave.stats.globalBytesRead += 4;
      }
      wave.sgpr[in->dst.index + i / 4] = value;
    }
  } else {
    address = (address + offset) & ~uint64_t(3); // the unit ignores the two low bits
    if (!wave.reach(in, address, bytes, false, -1))
      return nullptr;
    loadGuest(&wave.sgpr[in->dst.index], reinterpret_cast<const void *>(address), bytes);
    wave.stats.globalBytesRead += bytes;
  }
  return in + 1;
}

const Inst *nothing(Wave &, const Inst *in) { return in + 1; }

/// s_memtime and s_memrealtime: monotonic, and the same in every run.
const Inst *time(Wave &wave, const Inst *in) {
  wave.clock += 64;
  wave.setScalar64(in->dst.index, wave.clock);
  return in + 1;
}

} // namespace

void addSmem(OpTable &t) {
  auto row = [&](const std::string &name, Handler handler, uint32_t param) {
    OpInfo info;
    info.mnemonic = name;
    info.family = Family::Smem;
    info.handler = handler;
    info.param = param;
    t.add(info);
  };
  for (uint32_t dwords : {1u, 2u, 4u, 8u, 16u}) {
    std::string suffix = dwords == 1 ? "dword" : "dwordx" + std::to_string(dwords);
    row("s_load_" + suffix, load, dwords);
    row("s_buffer_load_" + suffix, load, dwords | paramBuffer);
  }
  row("s_memtime", time, 0);
  row("s_memrealtime", time, 0);
  for (const char *name : {"s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb", "s_dcache_wb_vol"})
    row(name, nothing, 0);
}

GFX950EMU_EXEC_END
