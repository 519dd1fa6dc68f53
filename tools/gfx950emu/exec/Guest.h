//===- Guest.h - plain loads and stores of the guest's memory ----------------------------===//
//
// Owns the copies between global memory and registers. The waves of a dispatch run on
// several host threads, and device programs poll with plain loads what others write with
// atomics, which the device allows. Under ThreadSanitizer the copies are therefore relaxed
// atomic accesses: a race between waves is the device program's (the emulator's own checker
// is there for those), while one between a wave and the host's code is still reported.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_EXEC_GUEST_H
#define GFX950EMU_EXEC_GUEST_H

#include "tools/gfx950emu/exec/Exec.h"

GFX950EMU_EXEC_BEGIN

#if __has_feature(thread_sanitizer)
/// `copy` moves one unit at an offset; each is as wide as the guest pointer's alignment allows.
template <class F> void forEachUnit(const void *guest, size_t bytes, F copy) {
  const size_t unit = reinterpret_cast<uintptr_t>(guest) % 4 == 0 && bytes % 4 == 0 ? 4 : 1;
  for (size_t at = 0; at < bytes; at += unit)
    unit == 4 ? copy.template operator()<uint32_t>(at) : copy.template operator()<uint8_t>(at);
}
inline void loadGuest(void *to, const void *guest, size_t bytes) {
  forEachUnit(guest, bytes, [&]<class T>(size_t at) {
    T unit = __atomic_load_n(reinterpret_cast<const T *>(static_cast<const char *>(guest) + at),
                             __ATOMIC_RELAXED);
    memcpy(static_cast<char *>(to) + at, &unit, sizeof unit);
  });
}
inline void storeGuest(void *guest, const void *from, size_t bytes) {
  forEachUnit(guest, bytes, [&]<class T>(size_t at) {
    T unit;
    memcpy(&unit, static_cast<const char *>(from) + at, sizeof unit);
    __atomic_store_n(reinterpret_cast<T *>(static_cast<char *>(guest) + at), unit,
                     __ATOMIC_RELAXED);
  });
}
#else
inline void loadGuest(void *to, const void *guest, size_t bytes) { memcpy(to, guest, bytes); }
inline void storeGuest(void *guest, const void *from, size_t bytes) { memcpy(guest, from, bytes); }
#endif

GFX950EMU_EXEC_END

#endif // GFX950EMU_EXEC_GUEST_H
