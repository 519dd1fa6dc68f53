//===- Mubuf.cpp - buffer loads, stores, atomics and LDS DMA ----------------------------===//
//
// Owns buffer addressing and its range check. A resource is base [47:0], stride [61:48],
// swizzle [63], number of records, flags. Raw buffers (stride 0) check each dword against
// the number of bytes; structured ones check the index. Out of range, loads give 0 and
// stores are dropped without an access to memory; what is in range must still lie in an
// allocation.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Address.h"
#include "tools/gfx950emu/exec/Atomic.h"
#include "tools/gfx950emu/exec/Guest.h"

GFX950EMU_EXEC_BEGIN

namespace {

enum : uint32_t { Offen = 1, Idxen = 2, Lds = 4 };

class BufferAddress {
public:
  BufferAddress(const Wave &wave, const Inst *in)
      : offen(in->extra & Offen), idxen(in->extra & Idxen), imm(uint32_t(in->imm)) {
    const uint32_t *word = &wave.sgpr[in->sdst.index];
    base = word[0] | uint64_t(word[1] & 0xffff) << 32;
    stride = word[1] >> 16 & 0x3fff;
    usesLane = word[1] >> 31 || (word[3] >> 23 & 1);
    records = word[2];
    soffset = wave.read32(in->smask);
    const uint32_t *v = in->src[0].present() ? wave.lanes(in->src[0]) : nullptr;
    indices = idxen ? v : nullptr;
    offsets = offen ? (idxen ? v + waveSize : v) : nullptr;
  }
  bool supported() const { return !usesLane; }

  /// Address of byte `skip` of a lane's access; whether `bytes` there are in range. Only the sum of
  /// the lane's offset and the immediate wraps.
  bool locate(unsigned lane, uint32_t skip, uint32_t bytes, uint64_t &address) const {
    uint64_t offset = uint32_t((offsets ? offsets[lane] : 0) + imm);
    offset += uint64_t(soffset) + skip;
    uint64_t index = indices ? indices[lane] : 0;
    address = base + offset + index * stride;
    if (stride != 0 && idxen)
      return index < records;
    return offset + bytes <= records;
  }

private:
  bool offen, idxen;
  bool usesLane; ///< swizzled, or with the lane's number added to the index
  uint32_t imm, stride, records, soffset;
  uint64_t base;
  const uint32_t *indices, *offsets;
};

const Inst *unsupported(Wave &wave, const Inst *in) {
  return wave.fail(in, FaultKind::UnknownInstruction, -1,
                   "a buffer resource that swizzles or adds the lane");
}

/// Read `bytes` (at most 4) of a lane; zero out of range. False after a fault.
bool loadPiece(Wave &wave, const Inst *in, const BufferAddress &buffer, unsigned lane,
               uint32_t skip, uint32_t bytes, uint32_t &value) {
  uint64_t address;
  value = 0;
  if (!buffer.locate(lane, skip, bytes, address))
    return true;
  if (bytes == 4)
    address &= ~uint64_t(3); // the unit ignores the two low bits of dword accesses
  if (!wave.reach(in, address, bytes, false, int(lane)))
    return false;
  loadGuest(&value, reinterpret_cast<const void *>(address), bytes);
  wave.stats.globalBytesRead += bytes;
  return true;
}

bool storePiece(Wave &wave, const Inst *in, const BufferAddress &buffer, unsigned lane,
                uint32_t skip, uint32_t bytes, uint32_t value) {
  uint64_t address;
  if (!buffer.locate(lane, skip, bytes, address))
    return true;
  if (bytes == 4)
    address &= ~uint64_t(3);
  if (!wave.reach(in, address, bytes, true, int(lane)))
    return false;
  storeGuest(reinterpret_cast<void *>(address), &value, bytes);
  wave.stats.globalBytesWritten += bytes;
  return true;
}

/// buffer_load_* with the lds bit: to LDS at M0 + offset + lane * size.
template <unsigned Dwords, Narrow N, uint32_t Bytes>
const Inst *loadToLds(Wave &wave, const Inst *in, const BufferAddress &buffer) {
  uint32_t base = (wave.sgpr[SgprM0] & 0x3ffff) + uint32_t(in->imm);
  for (uint64_t m = wave.exec(); m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    for (unsigned d = 0; d < Dwords; ++d) {
      uint32_t value, at = base + (l * Dwords + d) * 4;
      if (!loadPiece(wave, in, buffer, l, 4 * d, Bytes, value) || !wave.reachLds(in, at, 4, int(l)))
        return nullptr;
      if constexpr (Bytes < 4)
        value = narrowLoad(N, value, 0);
      memcpy(wave.lds + at, &value, 4);
    }
  }
  return in + 1;
}

template <unsigned Dwords> const Inst *load(Wave &wave, const Inst *in) {
  BufferAddress buffer(wave, in);
  if (!buffer.supported())
    return unsupported(wave, in);
  if (in->extra & Lds)
    return loadToLds<Dwords, Narrow::U16, 4>(wave, in, buffer);
  // The destination may overlap the address registers of the same lane.
  uint32_t *dst = wave.lanes(in->dst);
  for (uint64_t m = wave.exec(); m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint32_t v[Dwords];
    for (unsigned d = 0; d < Dwords; ++d)
      if (!loadPiece(wave, in, buffer, l, 4 * d, 4, v[d]))
        return nullptr;
    for (unsigned d = 0; d < Dwords; ++d)
      dst[d * waveSize + l] = v[d];
  }
  return in + 1;
}

template <unsigned Dwords> const Inst *store(Wave &wave, const Inst *in) {
  BufferAddress buffer(wave, in);
  if (!buffer.supported())
    return unsupported(wave, in);
  const uint32_t *data = wave.lanes(in->src[1]);
  for (uint64_t m = wave.exec(); m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    for (unsigned d = 0; d < Dwords; ++d)
      if (!storePiece(wave, in, buffer, l, 4 * d, 4, data[d * waveSize + l]))
        return nullptr;
  }
  return in + 1;
}

template <Narrow N> const Inst *loadNarrow(Wave &wave, const Inst *in) {
  BufferAddress buffer(wave, in);
  if (!buffer.supported())
    return unsupported(wave, in);
  if (in->extra & Lds)
    return loadToLds<1, N, narrowBytes(N)>(wave, in, buffer);
  uint32_t *dst = wave.lanes(in->dst);
  for (uint64_t m = wave.exec(); m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint32_t raw;
    if (!loadPiece(wave, in, buffer, l, 0, narrowBytes(N), raw))
      return nullptr;
    dst[l] = narrowLoad(N, raw, dst[l]);
  }
  return in + 1;
}

template <Narrow N> const Inst *storeNarrow(Wave &wave, const Inst *in) {
  constexpr bool high = N == Narrow::U8High || N == Narrow::B16High;
  BufferAddress buffer(wave, in);
  if (!buffer.supported())
    return unsupported(wave, in);
  const uint32_t *data = wave.lanes(in->src[1]);
  for (uint64_t m = wave.exec(); m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    if (!storePiece(wave, in, buffer, l, 0, narrowBytes(N), high ? data[l] >> 16 : data[l]))
      return nullptr;
  }
  return in + 1;
}

struct BufferWords {
  template <class T, class F> static const Inst *update(Wave &wave, const Inst *in, F f) {
    BufferAddress buffer(wave, in);
    if (!buffer.supported())
      return unsupported(wave, in);
    uint32_t *dst = in->dst.present() ? wave.lanes(in->dst) : nullptr;
    for (uint64_t m = wave.exec(); m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      uint64_t address;
      T old = 0;
      if (buffer.locate(l, 0, sizeof(T), address)) { // all or nothing
        if (address % sizeof(T))
          return misaligned(wave, in, address, sizeof(T), l);
        if (!wave.reach(in, address, sizeof(T), true, int(l)))
          return nullptr;
        old = atomicUpdate<T>(reinterpret_cast<uint8_t *>(address),
                              [&](T value) { return f(value, l); });
        wave.stats.globalBytesWritten += sizeof(T);
      }
      if (dst)
        setLaneData<T>(dst, l, old);
    }
    return in + 1;
  }
};

const Inst *nothing(Wave &, const Inst *in) { return in + 1; }

OpInfo row(llvm::StringRef name, Handler handler, ValueType dst, ValueType data) {
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Mubuf;
  info.handler = handler;
  info.dst = dst;
  info.src[1] = data;
  return info;
}

template <unsigned Dwords> void addWide(OpTable &t) {
  std::string suffix = Dwords == 1 ? "dword" : "dwordx" + std::to_string(Dwords);
  ValueType type = registersType(Dwords);
  t.add(row("buffer_load_" + suffix, load<Dwords>, type, ValueType::None));
  t.add(row("buffer_store_" + suffix, store<Dwords>, ValueType::None, type));
}

} // namespace

void addMubuf(OpTable &t) {
  addWide<1>(t);
  addWide<2>(t);
  addWide<3>(t);
  addWide<4>(t);
  auto narrow = [&](const char *name, Handler handler) {
    t.add(row(name, handler, ValueType::B32, ValueType::None));
  };
  narrow("buffer_load_ubyte", loadNarrow<Narrow::U8>);
  narrow("buffer_load_sbyte", loadNarrow<Narrow::I8>);
  narrow("buffer_load_ushort", loadNarrow<Narrow::U16>);
  narrow("buffer_load_sshort", loadNarrow<Narrow::I16>);
  narrow("buffer_load_ubyte_d16", loadNarrow<Narrow::U8Low>);
  narrow("buffer_load_ubyte_d16_hi", loadNarrow<Narrow::U8High>);
  narrow("buffer_load_sbyte_d16", loadNarrow<Narrow::I8Low>);
  narrow("buffer_load_sbyte_d16_hi", loadNarrow<Narrow::I8High>);
  narrow("buffer_load_short_d16", loadNarrow<Narrow::B16Low>);
  narrow("buffer_load_short_d16_hi", loadNarrow<Narrow::B16High>);
  auto store = [&](const char *name, Handler handler) {
    t.add(row(name, handler, ValueType::None, ValueType::B32));
  };
  store("buffer_store_byte", storeNarrow<Narrow::U8>);
  store("buffer_store_byte_d16_hi", storeNarrow<Narrow::U8High>);
  store("buffer_store_short", storeNarrow<Narrow::U16>);
  store("buffer_store_short_d16_hi", storeNarrow<Narrow::B16High>);
  forEachAtomicRow<BufferWords>(
      [&](const std::string &name, Handler handler, ValueType dst, ValueType data) {
        t.add(row("buffer_atomic_" + name, handler, dst, data));
      });
  // Memory is coherent here.
  t.add(row("buffer_inv", nothing, ValueType::None, ValueType::None));
  t.add(row("buffer_wbl2", nothing, ValueType::None, ValueType::None));
}

GFX950EMU_EXEC_END
