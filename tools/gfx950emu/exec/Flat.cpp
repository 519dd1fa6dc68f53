//===- Flat.cpp - flat, global and scratch loads and stores, LDS DMA ------------------------===//

#include "tools/gfx950emu/exec/Guest.h"
#include "tools/gfx950emu/exec/Transfer.h"

GFX950EMU_EXEC_BEGIN

namespace {

struct FlatAccess {
  template <class F>
  static bool forEach(Wave &wave, const Inst *in, uint32_t bytes, bool write, F f) {
    return forEachLane(wave, in, bytes, write, f);
  }
  static void load(void *to, const void *from, size_t bytes) { loadGuest(to, from, bytes); }
  static void store(void *to, const void *from, size_t bytes) { storeGuest(to, from, bytes); }
};

/// global_load_lds_*: memory to LDS at M0 + offset + lane * size; a narrow value takes a dword
/// slot.
template <uint32_t Bytes, Narrow N> const Inst *loadLds(Wave &wave, const Inst *in) {
  constexpr uint32_t slot = Bytes < 4 ? 4 : Bytes;
  uint32_t base = (wave.sgpr[SgprM0] & 0x3ffff) + uint32_t(in->imm);
  bool reached = true;
  bool ok = forEachLane(wave, in, Bytes, false, [&](unsigned l, const uint8_t *p) {
    uint32_t at = base + l * slot;
    if (!reached || !wave.reachLds(in, at, slot, int(l))) {
      reached = false;
      return;
    }
    if constexpr (Bytes < 4) {
      uint32_t raw = 0;
      loadGuest(&raw, p, Bytes);
      raw = narrowLoad(N, raw, 0);
      memcpy(wave.lds + at, &raw, 4);
    } else {
      loadGuest(wave.lds + at, p, Bytes);
    }
  });
  return ok && reached ? in + 1 : nullptr;
}

OpInfo row(const std::string &name, Handler handler, ValueType dst, ValueType data) {
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Flat;
  info.handler = handler;
  info.dst = dst;
  info.src[1] = data;
  return info;
}

template <unsigned Dwords> void addWide(OpTable &t, const std::string &prefix) {
  std::string suffix = Dwords == 1 ? "dword" : "dwordx" + std::to_string(Dwords);
  t.add(row(prefix + "load_" + suffix, loadWide<FlatAccess, Dwords>, registersType(Dwords),
            ValueType::None));
  t.add(row(prefix + "store_" + suffix, storeWide<FlatAccess, Dwords>, ValueType::None,
            registersType(Dwords)));
}

template <Narrow N> void addLoad(OpTable &t, const std::string &name) {
  t.add(row(name, loadNarrow<FlatAccess, N>, ValueType::B32, ValueType::None));
}
template <Narrow N> void addStore(OpTable &t, const std::string &name) {
  t.add(row(name, storeNarrow<FlatAccess, N>, ValueType::None, ValueType::B32));
}

} // namespace

void addFlat(OpTable &t) {
  for (const std::string prefix : {"flat_", "global_", "scratch_"}) {
    addWide<1>(t, prefix);
    addWide<2>(t, prefix);
    addWide<3>(t, prefix);
    addWide<4>(t, prefix);
    addLoad<Narrow::U8>(t, prefix + "load_ubyte");
    addLoad<Narrow::I8>(t, prefix + "load_sbyte");
    addLoad<Narrow::U16>(t, prefix + "load_ushort");
    addLoad<Narrow::I16>(t, prefix + "load_sshort");
    addLoad<Narrow::U8Low>(t, prefix + "load_ubyte_d16");
    addLoad<Narrow::U8High>(t, prefix + "load_ubyte_d16_hi");
    addLoad<Narrow::I8Low>(t, prefix + "load_sbyte_d16");
    addLoad<Narrow::I8High>(t, prefix + "load_sbyte_d16_hi");
    addLoad<Narrow::B16Low>(t, prefix + "load_short_d16");
    addLoad<Narrow::B16High>(t, prefix + "load_short_d16_hi");
    addStore<Narrow::U8>(t, prefix + "store_byte");
    addStore<Narrow::U8High>(t, prefix + "store_byte_d16_hi");
    addStore<Narrow::U16>(t, prefix + "store_short");
    addStore<Narrow::B16High>(t, prefix + "store_short_d16_hi");
  }
  auto dma = [&](const char *suffix, Handler handler) {
    t.add(row(std::string("global_load_lds_") + suffix, handler, ValueType::None, ValueType::None));
  };
  dma("ubyte", loadLds<1, Narrow::U8>);
  dma("sbyte", loadLds<1, Narrow::I8>);
  dma("ushort", loadLds<2, Narrow::U16>);
  dma("sshort", loadLds<2, Narrow::I16>);
  dma("dword", loadLds<4, Narrow::U16>);
  dma("dwordx3", loadLds<12, Narrow::U16>);
  dma("dwordx4", loadLds<16, Narrow::U16>);
}

GFX950EMU_EXEC_END
