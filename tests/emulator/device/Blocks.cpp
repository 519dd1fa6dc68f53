//===- Blocks.cpp - kernels of workgroups: LDS, barriers, DMA, atomics (device only) ===//
//
// Signature of each: (out, in, n), workgroups of 256.
//
//===------------------------------------------------------------------------===//

#include "Device.h"

typedef short Short4 __attribute__((ext_vector_type(4)));
typedef i32 Int2 __attribute__((ext_vector_type(2)));

static inline u32 itemId() { return __builtin_amdgcn_workitem_id_x(); }
static inline u32 groupId() { return __builtin_amdgcn_workgroup_id_x(); }

/// 32x32 dwords through a padded tile.
KERNEL transpose(u32 *out, const u32 *in, u32) {
  SHARED u32 tile[32][33];
  u32 x = itemId() & 31, y = itemId() >> 5, base = groupId() * 1024;
  for (u32 k = 0; k < 32; k += 8)
    tile[y + k][x] = in[base + (y + k) * 32 + x];
  barrier();
  for (u32 k = 0; k < 32; k += 8)
    out[base + (y + k) * 32 + x] = tile[x][y + k];
}

/// Each group of 16 lanes: 4 rows of 16 halfwords, of which a lane receives a column.
KERNEL transposeRead16(u32 *out, const u32 *in, u32) {
  SHARED u32 tile[512];
  u32 item = itemId(), base = groupId() * 512;
  tile[2 * item] = in[base + 2 * item];
  tile[2 * item + 1] = in[base + 2 * item + 1];
  barrier();
  Short4 v = __builtin_amdgcn_ds_read_tr16_b64_v4i16((LOCAL Short4 *)(tile + 2 * item));
  Int2 w = __builtin_bit_cast(Int2, v);
  out[base + 2 * item] = (u32)w.x;
  out[base + 2 * item + 1] = (u32)w.y;
}

/// Each group of 16 lanes: 8 rows of 16 bytes.
KERNEL transposeRead8(u32 *out, const u32 *in, u32) {
  SHARED u32 tile[512];
  u32 item = itemId(), base = groupId() * 512;
  tile[2 * item] = in[base + 2 * item];
  tile[2 * item + 1] = in[base + 2 * item + 1];
  barrier();
  Int2 w = __builtin_amdgcn_ds_read_tr8_b64_v2i32((LOCAL Int2 *)(tile + 2 * item));
  out[base + 2 * item] = (u32)w.x;
  out[base + 2 * item + 1] = (u32)w.y;
}

/// Bitonic sort of 1024 keys.
KERNEL bitonicSort(u32 *out, const u32 *in, u32) {
  SHARED u32 keys[1024];
  u32 item = itemId(), base = groupId() * 1024;
  for (u32 k = item; k < 1024; k += 256)
    keys[k] = in[base + k];
  barrier();
  for (u32 size = 2; size <= 1024; size *= 2)
    for (u32 step = size / 2; step; step /= 2) {
      for (u32 pair = item; pair < 512; pair += 256) {
        u32 low = 2 * pair - (pair & (step - 1)), high = low + step;
        u32 a = keys[low], b = keys[high];
        if ((a > b) == !(low & size)) {
          keys[low] = b;
          keys[high] = a;
        }
      }
      barrier();
    }
  for (u32 k = item; k < 1024; k += 256)
    out[base + k] = keys[k];
}

/// Global memory to LDS without registers: dwords, then 16 bytes a lane.
KERNEL ldsDma(u32 *out, const u32 *in, u32) {
  SHARED u32 narrow[256];
  SHARED u32 wide[1024];
  u32 item = itemId(), wave = (u32)__builtin_amdgcn_readfirstlane((int)(item / 64));
  u32 lane = item & 63, base = groupId() * 1024;
  typedef __attribute__((address_space(1))) void *Global;
  // A lane's global address is its own; its slot is base + lane * size.
  __builtin_amdgcn_global_load_lds((Global)(in + base + wave * 64 + (63 - lane)),
                                   (LOCAL void *)(narrow + wave * 64), 4, 0, 0);
  __builtin_amdgcn_global_load_lds((Global)(in + base + 4 * (wave * 64 + (lane ^ 5))),
                                   (LOCAL void *)(wide + wave * 256), 16, 0, 0);
  __builtin_amdgcn_s_waitcnt(0x0f70); // vmcnt(0)
  barrier();
  for (u32 k = 0; k < 4; ++k) {
    u32 e = k * 256 + item;
    out[base + e] = wide[e] + 7 * narrow[e & 255];
  }
}

/// Two buffers: load of the next tile while the last is summed by other waves.
KERNEL pipeline(u32 *out, const u32 *in, u32 n) {
  SHARED u32 tile[2][256];
  u32 item = itemId(), sum = 0, tiles = n / 256;
  tile[0][item] = in[item];
  for (u32 t = 0; t < tiles; ++t) {
    u32 next = t + 1 < tiles ? in[(t + 1) * 256 + item] : 0;
    barrier();
    for (u32 k = 0; k < 8; ++k)
      sum = sum * 31 + tile[t & 1][(item * 9 + k * 37 + groupId()) & 255];
    tile[(t + 1) & 1][item] = next;
  }
  out[groupId() * 256 + item] = sum;
}

/// Exclusive prefix sum over a workgroup: waves by DPP, wave totals by LDS.
KERNEL scan(u32 *out, const u32 *in, u32) {
  SHARED u32 totals[4];
  u32 i = globalId(), v = in[i], s = v, wave = itemId() / 64;
#define STEP(CTRL, ROWS, BOUND)                                                                    \
  s += (u32)__builtin_amdgcn_update_dpp(0, (int)s, CTRL, ROWS, 0xf, BOUND)
  STEP(0x111, 0xf, true);
  STEP(0x112, 0xf, true);
  STEP(0x114, 0xf, true);
  STEP(0x118, 0xf, true);
  STEP(0x142, 0xa, false);
  STEP(0x143, 0xc, false);
#undef STEP
  if ((itemId() & 63) == 63)
    totals[wave] = s;
  barrier();
  for (u32 k = 0; k < wave; ++k)
    s += totals[k];
  out[i] = s - v;
}

/// Integer atomics of 32 and 64 bits whose result does not depend on order.
KERNEL integerAtomics(u32 *out, const u32 *in, u32) {
  u32 i = globalId(), v = in[i];
  u64 *wide = (u64 *)(out + 16);
  __atomic_fetch_add(&out[v & 3], v, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&out[4], v >> 3, __ATOMIC_RELAXED);
  __atomic_fetch_min((i32 *)&out[5], (i32)v, __ATOMIC_RELAXED);
  __atomic_fetch_max((i32 *)&out[6], (i32)v, __ATOMIC_RELAXED);
  __atomic_fetch_or(&out[7], 1u << (v >> 27), __ATOMIC_RELAXED);
  __atomic_fetch_xor(&out[8], v, __ATOMIC_RELAXED);
  __atomic_fetch_and(&out[9], ~(i << 1), __ATOMIC_RELAXED);
  __atomic_fetch_add(&wide[0], (u64)v * v, __ATOMIC_RELAXED);
  __atomic_fetch_max(&wide[1], (u64)v << 20 | i, __ATOMIC_RELAXED);
  __atomic_fetch_xor(&wide[2], (u64)v << 31, __ATOMIC_RELAXED);
  u32 slot = __atomic_fetch_add(&out[10], 1, __ATOMIC_RELAXED); // each rank once
  __atomic_fetch_add(&out[11], slot, __ATOMIC_RELAXED);
}

/// Sums of small integers are exact in any order.
KERNEL floatAtomics(u32 *out, const u32 *in, u32) {
  SHARED float local[16];
  u32 i = globalId(), v = in[i], item = itemId();
  if (item < 16)
    local[item] = 0;
  barrier();
  float f = (float)((i32)(v >> 16 & 0xff) - 100) * 0.25f;
  __scoped_atomic_fetch_add((LOCAL float *)&local[v & 15], f, __ATOMIC_RELAXED,
                            __MEMORY_SCOPE_WRKGRP);
  barrier();
  typedef __attribute__((address_space(1))) float *Floats;
  typedef __attribute__((address_space(1))) double *Doubles;
  if (item < 16)
    __scoped_atomic_fetch_add((Floats)(out + item), local[item], __ATOMIC_RELAXED,
                              __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_fetch_add((Doubles)(out + 16) + (v & 7), (double)f * 0.5, __ATOMIC_RELAXED,
                            __MEMORY_SCOPE_DEVICE);
}

/// Read, change, compare-and-swap until it holds: global 32 and 64 bits, and LDS.
KERNEL swapLoops(u32 *out, const u32 *in, u32) {
  SHARED u32 local[8];
  u32 i = globalId(), v = in[i], item = itemId();
  if (item < 8)
    local[item] = 1;
  barrier();
  u32 seen = __atomic_load_n(&out[v & 3], __ATOMIC_RELAXED); // sum modulo a prime
  while (!__atomic_compare_exchange_n(&out[v & 3], &seen, (seen + (v & 0xffff)) % 65521, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  u64 *wide = (u64 *)(out + 4) + (v >> 4 & 1), was = __atomic_load_n(wide, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(wide, &was, was + (u64)v * 0x100000001ull, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  u32 old = 1; // product of odd numbers; the first guess needs no load
  while (!__atomic_compare_exchange_n(&local[v >> 8 & 7], &old, old * (v | 1), false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  barrier();
  if (item < 8)
    out[8 + groupId() * 8 + item] = local[item];
}
