//===- Lanes.cpp - exchange between the lanes of a wave (device only) ---------------===//
//
// Signature of each: (out, in, n), whole waves.
//
//===------------------------------------------------------------------------===//

#include "Device.h"

typedef u32 U32x2 __attribute__((ext_vector_type(2)));

static inline u32 larger(u32 a, u32 b) { return a > b ? a : b; }
#define DPP(V, CTRL) (u32) __builtin_amdgcn_update_dpp(0, (V), (CTRL), 0xf, 0xf, true)

/// Sum and maximum within rows of 16 by DPP rotations and mirrors.
KERNEL dppRows(u32 *out, const u32 *in, u32) {
  u32 i = globalId(), v = in[i];
  u32 sum = v;
  sum += DPP(sum, 0x121); // row_ror:1
  sum += DPP(sum, 0x122);
  sum += DPP(sum, 0x124);
  sum += DPP(sum, 0x128);
  u32 most = v;
  most = larger(most, DPP(most, 0xb1));  // quad_perm:[1,0,3,2]
  most = larger(most, DPP(most, 0x4e));  // quad_perm:[2,3,0,1]
  most = larger(most, DPP(most, 0x141)); // row_half_mirror
  most = larger(most, DPP(most, 0x140)); // row_mirror
  u32 kept = (u32)__builtin_amdgcn_update_dpp((int)(v ^ 1), (int)v, 0x101, 0x5, 0xf, false);
  out[4 * i] = sum;
  out[4 * i + 1] = most;
  out[4 * i + 2] = kept;                              // row_shl:1 into rows 0 and 2
  out[4 * i + 3] = DPP(v, 0x138) + 3 * DPP(v, 0x13c); // wave_shr:1, wave_ror:1
}

/// Maximum of each half of a wave by swizzles, then of the wave.
KERNEL swizzleMax(u32 *out, const u32 *in, u32) {
  u32 i = globalId(), v = in[i];
  v = larger(v, (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x041f));
  v = larger(v, (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x081f));
  v = larger(v, (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x101f));
  v = larger(v, (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x201f));
  v = larger(v, (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x401f));
  out[2 * i] = v;
  out[2 * i + 1] = larger(v, (u32)__builtin_amdgcn_ds_bpermute((int)((i ^ 32) & 63) * 4, (int)v));
}

/// Both row swaps of gfx950.
KERNEL laneSwaps(u32 *out, const u32 *in, u32) {
  u32 i = globalId(), v = in[i], w = v * 3 + 1;
  U32x2 rows = __builtin_amdgcn_permlane16_swap(v, w, false, false);
  U32x2 halves = __builtin_amdgcn_permlane32_swap(v, w, false, false);
  out[4 * i] = rows.x;
  out[4 * i + 1] = rows.y;
  out[4 * i + 2] = halves.x;
  out[4 * i + 3] = halves.y;
}

/// Gather from and scatter to lanes that the data choose.
KERNEL permutes(u32 *out, const u32 *in, u32) {
  u32 i = globalId(), v = in[i], lane = i & 63;
  out[2 * i] = (u32)__builtin_amdgcn_ds_bpermute((int)(v >> 8 & 63) * 4, (int)v);
  out[2 * i + 1] = (u32)__builtin_amdgcn_ds_permute((int)(lane * 37 + 11 & 63) * 4, (int)v);
}

/// Keep the odd ones, in order: ballot and mbcnt.
KERNEL compact(u32 *out, const u32 *in, u32) {
  u32 i = globalId(), v = in[i], base = i & ~63u;
  u64 mask = __builtin_amdgcn_ballot_w64(v & 1);
  u32 below = __builtin_amdgcn_mbcnt_hi((u32)(mask >> 32), __builtin_amdgcn_mbcnt_lo((u32)mask, 0));
  u32 total = (u32)__builtin_popcountll(mask);
  out[base + (v & 1 ? below : total + (i & 63) - below)] = v;
}

/// Serve each distinct key once: readfirstlane in a loop; then readlane by a uniform.
KERNEL waterfall(u32 *out, const u32 *in, u32) {
  u32 i = globalId(), v = in[i], key = v & 7, rank = 0, turn = 0;
  for (;;) {
    u32 now = (u32)__builtin_amdgcn_readfirstlane((int)key);
    if (now == key) {
      rank = turn;
      break;
    }
    ++turn;
  }
  u32 chosen = (u32)__builtin_amdgcn_readlane((int)v, (int)(in[i & ~63u] & 63));
  out[2 * i] = rank;
  out[2 * i + 1] = chosen;
}
