//===- Ds.cpp - LDS loads and stores, and cross-lane reads through the LDS unit ---------------===//

#include "tools/gfx950emu/exec/Transfer.h"
#include "tools/gfx950emu/exec/Valu.h"

GFX950EMU_EXEC_BEGIN

namespace {

/// Call f(lane, pointer) for active lanes with `bytes` at their address plus `offset`.
template <class F>
bool forEachLds(Wave &wave, const Inst *in, uint32_t offset, uint32_t bytes, F f) {
  const uint32_t *address = wave.lanes(in->src[0]);
  for (uint64_t m = wave.exec(); m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint32_t at = address[l] + offset; // wraps at 32 bits
    if (!wave.reachLds(in, at, bytes, int(l)))
      return false;
    f(l, wave.lds + at);
  }
  return true;
}

/// A workgroup runs on one host thread at a time: its copies are plain.
struct LdsAccess {
  template <class F> static bool forEach(Wave &wave, const Inst *in, uint32_t bytes, bool, F f) {
    return forEachLds(wave, in, uint32_t(in->imm), bytes, f);
  }
  static void load(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
  static void store(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
};

/// The two offsets of read2 and write2, in units of the element (times 64 for st64).
template <unsigned Dwords, unsigned Stride> uint32_t pairOffset(const Inst *in, unsigned which) {
  return (uint32_t(in->imm) >> (8 * which) & 0xff) * Dwords * 4 * Stride;
}

template <unsigned Dwords, unsigned Stride> const Inst *read2(Wave &wave, const Inst *in) {
  uint32_t *dst = wave.lanes(in->dst);
  // The destination may overlap the address register: both reads come before any write.
  alignas(64) uint32_t value[2 * Dwords][waveSize];
  for (unsigned which = 0; which < 2; ++which)
    if (!forEachLds(wave, in, pairOffset<Dwords, Stride>(in, which), Dwords * 4,
                    [&](unsigned l, const uint8_t *p) {
                      for (unsigned d = 0; d < Dwords; ++d)
                        memcpy(&value[which * Dwords + d][l], p + 4 * d, 4);
                    }))
      return nullptr;
  mergeLanes(dst, &value[0][0], wave.exec(), 2 * Dwords);
  return in + 1;
}

template <unsigned Dwords, unsigned Stride> const Inst *write2(Wave &wave, const Inst *in) {
  for (unsigned which = 0; which < 2; ++which) {
    const uint32_t *data = wave.lanes(in->src[1 + which]);
    if (!forEachLds(wave, in, pairOffset<Dwords, Stride>(in, which), Dwords * 4,
                    [&](unsigned l, uint8_t *p) {
                      for (unsigned d = 0; d < Dwords; ++d)
                        memcpy(p + 4 * d, &data[d * waveSize + l], 4);
                    }))
      return nullptr;
  }
  return in + 1;
}

OpInfo row(const std::string &name, Handler handler, ValueType dst, ValueType data,
           ValueType data2 = ValueType::None) {
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Ds;
  info.handler = handler;
  info.dst = dst;
  info.src[0] = ValueType::B32;
  info.src[1] = data;
  info.src[2] = data2;
  return info;
}

template <unsigned Dwords> void addWide(OpTable &t) {
  std::string bits = std::to_string(32 * Dwords);
  ValueType type = registersType(Dwords);
  t.add(row("ds_read_b" + bits, loadWide<LdsAccess, Dwords>, type, ValueType::None));
  t.add(row("ds_write_b" + bits, storeWide<LdsAccess, Dwords>, ValueType::None, type));
}

template <unsigned Dwords> void addPairs(OpTable &t) {
  std::string bits = std::to_string(32 * Dwords);
  ValueType type = registersType(Dwords), both = registersType(2 * Dwords), none = ValueType::None;
  t.add(row("ds_read2_b" + bits, read2<Dwords, 1>, both, none));
  t.add(row("ds_read2st64_b" + bits, read2<Dwords, 64>, both, none));
  t.add(row("ds_write2_b" + bits, write2<Dwords, 1>, none, type, type));
  t.add(row("ds_write2st64_b" + bits, write2<Dwords, 64>, none, type, type));
}

} // namespace

void addDs(OpTable &t) {
  addWide<1>(t);
  addWide<2>(t);
  addWide<3>(t);
  addWide<4>(t);
  addPairs<1>(t);
  addPairs<2>(t);
  auto load = [&](const char *name, Handler handler) {
    t.add(row(name, handler, ValueType::B32, ValueType::None));
  };
  auto store = [&](const char *name, Handler handler) {
    t.add(row(name, handler, ValueType::None, ValueType::B32));
  };
  load("ds_read_u8", loadNarrow<LdsAccess, Narrow::U8>);
  load("ds_read_i8", loadNarrow<LdsAccess, Narrow::I8>);
  load("ds_read_u16", loadNarrow<LdsAccess, Narrow::U16>);
  load("ds_read_i16", loadNarrow<LdsAccess, Narrow::I16>);
  load("ds_read_u8_d16", loadNarrow<LdsAccess, Narrow::U8Low>);
  load("ds_read_u8_d16_hi", loadNarrow<LdsAccess, Narrow::U8High>);
  load("ds_read_i8_d16", loadNarrow<LdsAccess, Narrow::I8Low>);
  load("ds_read_i8_d16_hi", loadNarrow<LdsAccess, Narrow::I8High>);
  load("ds_read_u16_d16", loadNarrow<LdsAccess, Narrow::B16Low>);
  load("ds_read_u16_d16_hi", loadNarrow<LdsAccess, Narrow::B16High>);
  store("ds_write_b8", storeNarrow<LdsAccess, Narrow::U8>);
  store("ds_write_b8_d16_hi", storeNarrow<LdsAccess, Narrow::U8High>);
  store("ds_write_b16", storeNarrow<LdsAccess, Narrow::U16>);
  store("ds_write_b16_d16_hi", storeNarrow<LdsAccess, Narrow::B16High>);
}

GFX950EMU_EXEC_END
