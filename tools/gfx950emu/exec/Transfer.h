//===- Transfer.h - loads and stores of a register a lane --------------------------------===//
//
// Owns what a lane's load or store does with its registers, for global memory and LDS.
// `Access` says which lanes take part and how memory is copied:
//   forEach(wave, in, bytes, write, f)  calls f(lane, pointer); false after a fault
//   load(to, from, bytes), store(to, from, bytes)
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_TRANSFER_H
#define GFX950EMU_EXEC_TRANSFER_H

#include "tools/gfx950emu/exec/Address.h"

GFX950EMU_EXEC_BEGIN

template <class Access, unsigned Dwords> const Inst *loadWide(Wave &wave, const Inst *in) {
  // A destination may overlap the address register of the same lane, which has been read.
  uint32_t *dst = wave.lanes(in->dst);
  bool ok = Access::forEach(wave, in, Dwords * 4, false, [&](unsigned l, const uint8_t *p) {
    uint32_t v[Dwords];
    Access::load(v, p, sizeof v);
    for (unsigned d = 0; d < Dwords; ++d)
      dst[d * waveSize + l] = v[d];
  });
  return ok ? in + 1 : nullptr;
}

template <class Access, unsigned Dwords> const Inst *storeWide(Wave &wave, const Inst *in) {
  const uint32_t *data = wave.lanes(in->src[1]);
  bool ok = Access::forEach(wave, in, Dwords * 4, true, [&](unsigned l, uint8_t *p) {
    uint32_t v[Dwords];
    for (unsigned d = 0; d < Dwords; ++d)
      v[d] = data[d * waveSize + l];
    Access::store(p, v, sizeof v);
  });
  return ok ? in + 1 : nullptr;
}

template <class Access, Narrow N> const Inst *loadNarrow(Wave &wave, const Inst *in) {
  uint32_t *dst = wave.lanes(in->dst);
  bool ok = Access::forEach(wave, in, narrowBytes(N), false, [&](unsigned l, const uint8_t *p) {
    uint32_t raw = 0;
    Access::load(&raw, p, narrowBytes(N));
    dst[l] = narrowLoad(N, raw, dst[l]);
  });
  return ok ? in + 1 : nullptr;
}

template <class Access, Narrow N> const Inst *storeNarrow(Wave &wave, const Inst *in) {
  constexpr bool high = N == Narrow::U8High || N == Narrow::B16High;
  const uint32_t *data = wave.lanes(in->src[1]);
  bool ok = Access::forEach(wave, in, narrowBytes(N), true, [&](unsigned l, uint8_t *p) {
    uint32_t v = high ? data[l] >> 16 : data[l];
    Access::store(p, &v, narrowBytes(N));
  });
  return ok ? in + 1 : nullptr;
}

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_TRANSFER_H
