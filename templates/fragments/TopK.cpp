//===- TopK.cpp -------------------------------------------------------------===//

#include "templates/fragments/TopK.h"

namespace nvfp4gen::fragments {

TopKPlace topKPlace(KernelBuilder &kb, int64_t heads) {
  TopKPlace place;
  place.item = kb.workitemId(0);
  place.lane = place.item & 63;
  place.wave = kb.readFirstLane(lshr(place.item, 6));
  place.row = udiv(kb.workgroupId(0), heads);
  place.head = urem(kb.workgroupId(0), heads);
  return place;
}

void storeTopK(KernelBuilder &kb, const TopKPlace &place, const Keys &list, Val waveHasKeys,
               unsigned topK) {
  const unsigned length = list.size();
  Keys ofWave =
      kb.ifElse(waveHasKeys, [&] { return mergeTopOfWave(kb, list); }, [&] { return list; });
  Val shared = kb.shared((kTopKWaves - 1) * length * 8);
  auto pairAt = [&](Val wave, unsigned pair) {
    return kb.offset(shared, wave * int64_t(length * 8) + int64_t(pair * 16));
  };
  kb.ifThen(eq(place.lane, 0) & slt(kb.i32(0), place.wave), [&] {
    for (unsigned pair = 0; pair < length / 2; ++pair)
      kb.store(kb.pack({ofWave[2 * pair], ofWave[2 * pair + 1]}), pairAt(place.wave - 1, pair), 16);
  });
  kb.barrier();
  kb.ifThen(eq(place.wave, 0), [&] {
    Keys top = ofWave;
    for (unsigned wave = 0; wave + 1 < kTopKWaves; ++wave) {
      Keys other;
      for (unsigned pair = 0; pair < length / 2; ++pair)
        other.append(
            kb.elements(kb.load(kb.vectorType(2, kb.f64Type()), pairAt(kb.i32(wave), pair), 16)));
      top = mergeTop(kb, top, other);
    }
    kb.ifThen(eq(place.lane, 0), [&] {
      Val bytes = kb.zext(place.row, kb.i64Type()) * kb.arg("ids_row_stride") +
                  kb.zext(place.head, kb.i64Type()) * kb.arg("ids_head_stride");
      Val ids = kb.offset(kb.arg("ids"), bytes);
      for (unsigned i = 0; i < topK; ++i)
        kb.store(blockOf(kb, top[i]), kb.offset(ids, int64_t(i * 4)), 4);
    });
  });
}

} // namespace nvfp4gen::fragments
