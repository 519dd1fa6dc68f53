//===- DsLanes.cpp - LDS instructions that exchange data between lanes -----------------------===//
//
// Owns permute, swizzle and the transposed reads.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/exec/Exec.h"
#include "tools/gfx950emu/exec/Valu.h"

GFX950EMU_EXEC_BEGIN

namespace {

/// Each lane reads the data of the lane that its address names; inactive sources give 0.
const Inst *bpermute(Wave &wave, const Inst *in) {
  const uint32_t *address = wave.lanes(in->src[0]), *data = wave.lanes(in->src[1]);
  uint64_t exec = wave.exec();
  alignas(64) LaneVector out;
  for (unsigned l = 0; l < waveSize; ++l) {
    unsigned from = (address[l] + uint32_t(in->imm)) / 4 % waveSize;
    out[l] = exec >> from & 1 ? data[from] : 0;
  }
  mergeLanes(wave.lanes(in->dst), out, exec, 1);
  return in + 1;
}

/// Each lane sends its data to a lane; the highest sender wins, lanes without one get 0.
const Inst *permute(Wave &wave, const Inst *in) {
  const uint32_t *address = wave.lanes(in->src[0]), *data = wave.lanes(in->src[1]);
  uint64_t exec = wave.exec();
  alignas(64) LaneVector out = {};
  for (unsigned l = 0; l < waveSize; ++l)
    if (exec >> l & 1)
      out[(address[l] + uint32_t(in->imm)) / 4 % waveSize] = data[l];
  mergeLanes(wave.lanes(in->dst), out, exec, 1);
  return in + 1;
}

/// Source lane of a swizzle by its offset field.
unsigned swizzleSource(uint32_t offset, unsigned l) {
  if (offset >= 0xe000) { // FFT: bit-reversed order of 32 lanes
    unsigned mask = offset & 0x1f, low = l & 31;
    unsigned reversed = __builtin_bitreverse32(low) >> 27;
    return (l & 32) | ((reversed >> std::popcount(mask)) | (low & mask));
  }
  if (offset >= 0xc000) { // rotate 32 lanes
    unsigned mask = offset & 0x1f, steps = offset >> 5 & 0x1f;
    bool right = offset >> 10 & 1;
    unsigned low = l & 31, moved = (right ? low - steps : low + steps) & 31;
    return (l & 32) | (low & mask) | (moved & ~mask & 31);
  }
  if (offset & 0x8000) // quad permutation
    return (l & ~3u) | (offset >> (2 * (l & 3)) & 3);
  unsigned andMask = offset & 0x1f, orMask = offset >> 5 & 0x1f, xorMask = offset >> 10 & 0x1f;
  return (l & 32) | ((((l & 31) & andMask) | orMask) ^ xorMask);
}

const Inst *swizzle(Wave &wave, const Inst *in) {
  const uint32_t *data = wave.lanes(in->src[0]);
  uint64_t exec = wave.exec();
  alignas(64) LaneVector out;
  for (unsigned l = 0; l < waveSize; ++l) {
    unsigned from = swizzleSource(uint32_t(in->imm), l) % waveSize;
    out[l] = exec >> from & 1 ? data[from] : 0;
  }
  mergeLanes(wave.lanes(in->dst), out, exec, 1);
  return in + 1;
}

/// Transposed reads. In each group of 16 lanes the data of ordinary reads, concatenated, is a
/// matrix of 16 columns; lane c gets column c.
template <unsigned Dwords, unsigned Bits> const Inst *readTransposed(Wave &wave, const Inst *in) {
  constexpr unsigned group = 16, perLane = 32 * Dwords / Bits;
  if (wave.exec() != ~uint64_t(0))
    return wave.fail(in, FaultKind::UnknownInstruction, -1,
                     "a transposed read with inactive lanes has no defined result");
  const uint32_t *address = wave.lanes(in->src[0]);
  uint32_t *dst = wave.lanes(in->dst);
  uint32_t data[waveSize][Dwords];
  for (unsigned l = 0; l < waveSize; ++l) {
    uint32_t at = address[l] + uint32_t(in->imm);
    if (at % (Dwords == 2 ? 8 : 4))
      return wave.fail(in, FaultKind::Misaligned, int(l),
                       "LDS address " + std::to_string(at) + " of a transposed read");
    if (!wave.reachLds(in, at, Dwords * 4, int(l)))
      return nullptr;
    memcpy(data[l], wave.lds + at, Dwords * 4);
  }
  auto element = [&](unsigned lane, unsigned e) {
    unsigned at = e * Bits, shift = at % 32;
    uint64_t pair = data[lane][at / 32];
    if (at / 32 + 1 < Dwords)
      pair |= uint64_t(data[lane][at / 32 + 1]) << 32;
    return uint32_t(pair >> shift) & ((1u << Bits) - 1);
  };
  for (unsigned l = 0; l < waveSize; ++l) {
    uint32_t out[Dwords + 1] = {};
    for (unsigned r = 0; r < perLane; ++r) {
      unsigned n = r * group + l % group;
      uint32_t v = element((l & ~(group - 1)) + n / perLane, n % perLane);
      unsigned at = r * Bits, shift = at % 32;
      out[at / 32] |= v << shift;
      if (shift + Bits > 32)
        out[at / 32 + 1] |= v >> (32 - shift);
    }
    for (unsigned d = 0; d < Dwords; ++d)
      dst[d * waveSize + l] = out[d];
  }
  return in + 1;
}

void addRow(OpTable &t, const char *name, Handler handler, ValueType dst, ValueType data) {
  OpInfo info;
  info.mnemonic = name;
  info.family = Family::Ds;
  info.handler = handler;
  info.dst = dst;
  info.src[0] = ValueType::B32;
  info.src[1] = data;
  t.add(info);
}

} // namespace

void addDsLanes(OpTable &t) {
  addRow(t, "ds_bpermute_b32", bpermute, ValueType::B32, ValueType::B32);
  addRow(t, "ds_permute_b32", permute, ValueType::B32, ValueType::B32);
  addRow(t, "ds_swizzle_b32", swizzle, ValueType::B32, ValueType::None);
  addRow(t, "ds_read_b64_tr_b16", readTransposed<2, 16>, ValueType::B64, ValueType::None);
  addRow(t, "ds_read_b64_tr_b8", readTransposed<2, 8>, ValueType::B64, ValueType::None);
  addRow(t, "ds_read_b64_tr_b4", readTransposed<2, 4>, ValueType::B64, ValueType::None);
  addRow(t, "ds_read_b96_tr_b6", readTransposed<3, 6>, ValueType::B96, ValueType::None);
  addRow(
      t, "ds_nop", [](Wave &, const Inst *in) { return in + 1; }, ValueType::None, ValueType::None);
}

GFX950EMU_EXEC_END
