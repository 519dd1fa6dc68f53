// Device code of the HIP client tests, compiled by clang for gfx950 without any ROCm header.

#define KERNEL __attribute__((amdgpu_kernel, visibility("default")))
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))

static unsigned globalId(unsigned blockSize) {
  return __builtin_amdgcn_workgroup_id_x() * blockSize + __builtin_amdgcn_workitem_id_x();
}

// Blocks of 64. Arguments of several sizes, so that wrong offsets show.
KERNEL void vector_add(const GLOBAL float *a, unsigned n, const GLOBAL float *b, GLOBAL float *out,
                       float scale) {
  unsigned i = globalId(64);
  if (i < n)
    out[i] = scale * a[i] + b[i];
}

KERNEL void add_constant(GLOBAL unsigned *data, unsigned n, unsigned delta) {
  unsigned i = globalId(64);
  if (i < n)
    data[i] += delta;
}

// Reads its block size and count from the hidden arguments.
KERNEL void hidden_arguments(GLOBAL unsigned *out) {
  const __attribute__((address_space(4))) unsigned *hidden =
      (const __attribute__((address_space(4))) unsigned *)__builtin_amdgcn_implicitarg_ptr();
  if (__builtin_amdgcn_workitem_id_x() == 0 && __builtin_amdgcn_workgroup_id_x() == 0) {
    out[0] = hidden[0];          // block_count_x
    out[1] = hidden[3] & 0xffff; // group_size_x
  }
}

KERNEL void no_arguments(void) {}

KERNEL __attribute__((amdgpu_flat_work_group_size(64, 64))) void at_most_64(GLOBAL unsigned *out) {
  out[__builtin_amdgcn_workitem_id_x()] = 1;
}

#ifdef __gfx950__ // others have 64 KiB
// 96 KiB of static LDS; reverses 64 values through it.
static LDS unsigned tile[24 * 1024] __attribute__((loader_uninitialized));
KERNEL void static_lds(GLOBAL unsigned *data) {
  unsigned lane = __builtin_amdgcn_workitem_id_x();
  tile[lane] = data[lane];
  __builtin_amdgcn_s_barrier();
  data[lane] = tile[63 - lane];
}
#endif

KERNEL void store_at(GLOBAL unsigned *out, unsigned long long index) { out[index] = 1; }

KERNEL void spin(volatile GLOBAL unsigned *flag) {
  while (*flag == 0)
    ;
}
