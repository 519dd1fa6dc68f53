// Device C with what the checks must not mistake: MFMA chains of every pass count, LDS tiles
// between barriers, LDS DMA, spilled and half-written registers, and one workgroup handing its
// result to another through an atomic.
//
// The last kernel is the exception: the compiler (LLVM 22) puts no wait states between two MFMAs
// of different opcodes on one accumulator.

#include "tests/emulator/device/Device.h"

typedef _Float16 Half8 __attribute__((ext_vector_type(8)));
typedef __bf16 Brain8 __attribute__((ext_vector_type(8)));
typedef float Float4 __attribute__((ext_vector_type(4)));
typedef float Float16 __attribute__((ext_vector_type(16)));
typedef int Int4 __attribute__((ext_vector_type(4)));
typedef int Int8 __attribute__((ext_vector_type(8)));

#define LANE (__builtin_amdgcn_workitem_id_x() & 63)

/// Every pass count; each result feeds the next as a source after arithmetic, and as accumulator.
KERNEL mfmaChain(float *out, const u32 *in) {
  u32 i = globalId();
  const Int8 *wide = (const Int8 *)in;
  Int8 w = wide[i];
  Half8 a = __builtin_bit_cast(Half8, ((const Int4 *)in)[2 * i]);
  Float4 small = {0, 0, 0, 0}, single = small, quads = small;
  Float16 large = {}, largeSingle = {}, scaled = {};
  for (int round = 0; round < 3; ++round) {
    small = __builtin_amdgcn_mfma_f32_16x16x32_f16(a, a, small, 0, 0, 0);
    large = __builtin_amdgcn_mfma_f32_32x32x16_f16(a, a, large, 0, 0, 0);
    single = __builtin_amdgcn_mfma_f32_16x16x4f32(small.x, large[3], single, 0, 0, 0);
    largeSingle = __builtin_amdgcn_mfma_f32_32x32x2f32(single.y, large[15], largeSingle, 0, 0, 0);
    quads = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(w, w, quads, 4, 4, 0, w[0], 0, w[1]);
    scaled = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(w, w, scaled, 0, 0, 1, w[0], 2, w[1]);
    a[round] = (_Float16)(quads.z + scaled[7]);
    w[round] ^= __builtin_bit_cast(int, quads.w + largeSingle[2]);
  }
  for (int r = 0; r < 16; ++r)
    out[i * 16 + r] = large[r] + largeSingle[r] + scaled[r] + small[r & 3];
}

/// Tiles through LDS, double-buffered, by plain stores and by DMA; transposed reads.
KERNEL ldsTiles(float *out, const u32 *in, u32 steps) {
  SHARED u32 tile[2][1024];
  SHARED u32 direct[1024];
  u32 item = __builtin_amdgcn_workitem_id_x(), wave = item / 64;
  Float4 acc = {0, 0, 0, 0};
  for (u32 step = 0; step < steps; ++step) {
    u32 at = step & 1;
    for (u32 r = 0; r < 4; ++r)
      tile[at][r * 256 + item] = in[step * 1024 + r * 256 + item];
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) u32 *)in + step * 1024 +
                                         item,
                                     (LOCAL u32 *)direct + wave * 64, 4, 0, 0);
    barrier();
    const LOCAL Half8 *rows = (const LOCAL Half8 *)tile[at];
    Half8 a = rows[LANE], b = rows[255 - item];
    acc = __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, acc, 0, 0, 0);
    acc.x += (float)direct[item ^ 64];
    barrier();
  }
  for (u32 r = 0; r < 4; ++r)
    out[(__builtin_amdgcn_workgroup_id_x() * 256 + item) * 4 + r] = acc[r];
}

/// More values than registers, halves of registers, lanes that take different ways.
KERNEL pressure(u32 *out, const u32 *in, u32 n) {
  u32 i = globalId();
  u32 values[96], picked = 0;
  for (u32 k = 0; k < 96; ++k)
    values[k] = in[(i + k) % n] * (k + 1);
  for (u32 k = 0; k < 96; ++k)
    if (values[k] & 1)
      values[(values[k] >> 1) % 96] += k;
  u16 low, high;
  if (i & 1) {
    low = (u16)values[3];
    high = (u16)(values[4] >> 3);
  } else {
    low = (u16)(values[5] + 1);
    high = 7;
  }
  for (u32 k = 0; k < 96; ++k)
    picked ^= values[k] + (values[k] / (k + 3));
  out[i] = picked + (low | (u32)high << 16);
}

/// The last workgroup to arrive adds up what the others stored.
KERNEL lastAddsUp(u32 *out, u32 *partial, u32 *counter, const u32 *in) {
  SHARED u32 last;
  u32 group = __builtin_amdgcn_workgroup_id_x(), item = __builtin_amdgcn_workitem_id_x();
  u32 v = in[globalId()];
  partial[globalId()] = v * v;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  barrier();
  if (item == 0)
    last = __atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL) == 7;
  barrier();
  if (!last)
    return;
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  u32 sum = group * 0;
  for (u32 g = 0; g < 8; ++g)
    sum += partial[g * 128 + item];
  out[item] = sum;
}

KERNEL mixedOpcodes(float *out, const u32 *in) {
  u32 i = globalId();
  Half8 a = __builtin_bit_cast(Half8, ((const Int4 *)in)[2 * i]);
  Brain8 b = __builtin_bit_cast(Brain8, a);
  Float4 acc = {0, 0, 0, 0};
  acc = __builtin_amdgcn_mfma_f32_16x16x32_f16(a, a, acc, 0, 0, 0);
  acc = __builtin_amdgcn_mfma_f32_16x16x32_bf16(b, b, acc, 0, 0, 0);
  for (u32 r = 0; r < 4; ++r)
    out[i * 4 + r] = acc[r];
}
