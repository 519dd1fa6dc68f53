//===- Waves.cpp - kernels of waves and workgroups (device only) -------------------===//

#include "Device.h"

typedef u32 U32x2 __attribute__((ext_vector_type(2)));

/// out[wave] = sum over its 64 lanes by DPP; out[waves + i] = neighbours by other ways.
KERNEL waveReduce(u32 *sums, u32 *shuffled, const u32 *in) {
  u32 i = globalId(), v = in[i], lane = i & 63;
  u32 s = v;
  s += __builtin_amdgcn_update_dpp(0, s, 0x111, 0xf, 0xf, true); // row_shr:1
  s += __builtin_amdgcn_update_dpp(0, s, 0x112, 0xf, 0xf, true);
  s += __builtin_amdgcn_update_dpp(0, s, 0x114, 0xf, 0xf, true);
  s += __builtin_amdgcn_update_dpp(0, s, 0x118, 0xf, 0xf, true);
  s += __builtin_amdgcn_update_dpp(0, s, 0x142, 0xa, 0xf, false); // row_bcast:15
  s += __builtin_amdgcn_update_dpp(0, s, 0x143, 0xc, 0xf, false); // row_bcast:31
  u32 total = __builtin_amdgcn_readlane(s, 63);
  if (lane == 0)
    sums[i / 64] = total;
  u32 reversed = __builtin_amdgcn_ds_bpermute((63 - lane) * 4, v);
  u32 swapped = __builtin_amdgcn_ds_swizzle(v, 0x041f); // lane ^ 1
  U32x2 halves = __builtin_amdgcn_permlane32_swap(v, v * 3, false, false);
  shuffled[i] = reversed * 5 + swapped * 7 + halves.x * 11 + halves.y * 13;
}

/// Reverse a block of 256 through LDS.
KERNEL blockReverse(u32 *out, const u32 *in) {
  SHARED u32 tile[256];
  u32 item = __builtin_amdgcn_workitem_id_x(), base = __builtin_amdgcn_workgroup_id_x() * 256;
  tile[item] = in[base + item];
  barrier();
  u32 v = tile[255 - item];
  barrier();
  tile[item] = v + tile[item];
  barrier();
  out[base + item] = v ^ tile[item ^ 64]; // from another wave
}

/// Scan of a block by log steps: barriers inside a loop.
KERNEL blockScan(u32 *out, const u32 *in) {
  SHARED u32 tile[2][256];
  u32 item = __builtin_amdgcn_workitem_id_x(), base = __builtin_amdgcn_workgroup_id_x() * 256;
  u32 from = 0;
  tile[0][item] = in[base + item];
  for (u32 step = 1; step < 256; step *= 2) {
    barrier();
    tile[1 - from][item] = tile[from][item] + (item >= step ? tile[from][item - step] : 0);
    from = 1 - from;
  }
  barrier();
  out[base + item] = tile[from][item];
}

KERNEL atomics(u32 *counters, u64 *wide, const u32 *in) {
  u32 i = globalId(), v = in[i];
  __atomic_fetch_add(&counters[v & 15], 1, __ATOMIC_RELAXED);
  __atomic_fetch_max(&counters[16], v, __ATOMIC_RELAXED);
  __atomic_fetch_min(&counters[17], v, __ATOMIC_RELAXED);
  __atomic_fetch_xor(&counters[18], v, __ATOMIC_RELAXED);
  __atomic_fetch_or(&counters[19], 1u << (v & 31), __ATOMIC_RELAXED);
  __atomic_fetch_add(wide, (u64)v << 16, __ATOMIC_RELAXED);
  u32 expected = 0;
  if (__atomic_compare_exchange_n(&counters[20 + (v & 3)], &expected, i + 1, false,
                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    __atomic_fetch_add(&counters[24], 1, __ATOMIC_RELAXED); // one winner a slot
}

KERNEL ldsHistogram(u32 *out, const u32 *in, u32 n) {
  SHARED u32 bins[64];
  u32 item = __builtin_amdgcn_workitem_id_x();
  if (item < 64)
    bins[item] = 0;
  barrier();
  for (u32 i = item; i < n; i += __builtin_amdgcn_workgroup_size_x())
    __atomic_fetch_add(&bins[in[i] & 63], 1, __ATOMIC_RELAXED);
  barrier();
  if (item < 64)
    out[item] = bins[item];
}

/// Every work-item stores what it knows of its place.
KERNEL geometry(u32 *out) {
  u32 sx = __builtin_amdgcn_workgroup_size_x(), sy = __builtin_amdgcn_workgroup_size_y(),
      sz = __builtin_amdgcn_workgroup_size_z();
  u32 x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(),
      z = __builtin_amdgcn_workitem_id_z();
  u32 gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(),
      gz = __builtin_amdgcn_workgroup_id_z();
  const u32 *hidden = (const u32 *)__builtin_amdgcn_implicitarg_ptr();
  u32 cx = hidden[0], cy = hidden[1];
  u32 group = (gz * cy + gy) * cx + gx, item = (z * sy + y) * sx + x;
  u32 *o = out + 4 * (group * sx * sy * sz + item);
  o[0] = gx | gy << 8 | gz << 16;
  o[1] = x | y << 8 | z << 16;
  o[2] = sx | sy << 8 | sz << 16;
  o[3] = hidden[0] | hidden[1] << 8 | hidden[2] << 16;
}

KERNEL runOrder(u32 *order) {
  u32 wave = __builtin_amdgcn_workitem_id_x() / 64;
  if (__builtin_amdgcn_workitem_id_x() % 64 == 0)
    order[1 + __atomic_fetch_add(order, 1, __ATOMIC_RELAXED)] =
        __builtin_amdgcn_workgroup_id_x() * 4 + wave;
}

/// Every workgroup waits for all others.
KERNEL gridBarrier(u32 *arrived, u32 groups) {
  __atomic_fetch_add(arrived, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < groups)
    ;
}

extern LOCAL u32 lds[]; // as many bytes as the launch says

KERNEL dynamicLds(u32 *out, u32 words) {
  u32 item = __builtin_amdgcn_workitem_id_x();
  for (u32 i = item; i < words; i += 64)
    lds[i] = i * 3;
  barrier();
  u32 sum = 0;
  for (u32 i = 0; i < words; ++i)
    sum += lds[i];
  out[item] = sum;
}

//===- Faults ---------------------------------------------------------------------===//

KERNEL storeAt(u32 *out, u64 index) {
  if (globalId() == 67) // workgroup 1, lane 3
    out[index] = 1;
}
KERNEL loadAt(u32 *out, const u32 *in, u64 index) { out[0] = in[index]; }
KERNEL spinForever(volatile u32 *out) {
  for (;;)
    out[0] = 1;
}
KERNEL trapNow(u32 *out) {
  if (out[0] == 0)
    __builtin_trap();
}
KERNEL unknownInstruction() { asm volatile("v_mqsad_u32_u8 v[0:3], v[4:5], v6, v[8:11]" ::: "v0"); }
KERNEL badJump(u64 target) { asm volatile("s_setpc_b64 %0" ::"s"(target)); }
KERNEL misalignedAtomic(u8 *out) {
  asm volatile("global_atomic_add %0, %1, off\n s_waitcnt vmcnt(0)" ::"v"(out + 2), "v"(1));
}
