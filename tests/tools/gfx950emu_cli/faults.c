/*===- faults.c - one kernel a check, with its fault and repaired ----------------===
 *
 * Each kernel is named after its check; its twin ends in _ok. All take (in, out), where
 * `in` is 1,024 ints that are read-only and `out` 1,024 ints. Compiled with -O1.
 *
 *===------------------------------------------------------------------------===*/

typedef unsigned u32;

#define KERNEL __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 256))) void
#define ITEM __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define IN const u32 *in
#define OUT u32 *out
#define UNUSED(x) (void)(x)

KERNEL bounds(IN, OUT) { out[ITEM] = in[1000 + ITEM]; }
KERNEL bounds_ok(IN, OUT) { out[ITEM] = in[800 + ITEM]; }

#define ADD64(OFFSET)                                                                              \
  UNUSED(in);                                                                                      \
  if (ITEM == 0)                                                                                   \
  __asm__ volatile("global_atomic_add_x2 %0, %1, %2 offset:" OFFSET : : "v"(0), "v"(1ull), "s"(out))
KERNEL alignment(IN, OUT) { ADD64("4"); }
KERNEL alignment_ok(IN, OUT) { ADD64("8"); }

KERNEL readonly(IN, OUT) { ((volatile u32 *)in)[ITEM] = 1, UNUSED(out); }
KERNEL readonly_ok(IN, OUT) { UNUSED(in), out[ITEM] = 1; }

KERNEL undefined(IN, OUT) { out[ITEM] = in[ITEM] + out[512 + ITEM]; }
KERNEL undefined_ok(IN, OUT) { out[ITEM] = in[ITEM] + in[512 + ITEM]; }

KERNEL races(IN, OUT) { out[ITEM] = in[GROUP]; }
KERNEL races_ok(IN, OUT) { out[GROUP * 256 + ITEM] = in[GROUP]; }

#define LOAD_ADD(WAIT)                                                                             \
  u32 value;                                                                                       \
  __asm__ volatile("global_load_dword %0, %1, %2\n" WAIT "v_add_u32 %0, 1, %0\n"                   \
                   "s_waitcnt vmcnt(0)"                                                            \
                   : "=&v"(value)                                                                  \
                   : "v"(4 * ITEM), "s"(in));                                                      \
  out[ITEM] = value
KERNEL waits(IN, OUT) { LOAD_ADD(""); }
KERNEL waits_ok(IN, OUT) { LOAD_ADD("s_waitcnt vmcnt(0)\n"); }

#define READ_LANE(WAIT)                                                                            \
  u32 value;                                                                                       \
  __asm__ volatile("v_readfirstlane_b32 %0, %1\n" WAIT "v_readlane_b32 %0, %1, %0\ns_nop 1"        \
                   : "=&s"(value)                                                                  \
                   : "v"(ITEM));                                                                   \
  UNUSED(in), out[ITEM] = value
KERNEL hazards(IN, OUT) { READ_LANE(""); }
KERNEL hazards_ok(IN, OUT) { READ_LANE("s_nop 3\n"); }

KERNEL barriers(IN, OUT) {
  UNUSED(in);
  if (__builtin_amdgcn_readfirstlane(ITEM) == 0)
    __builtin_amdgcn_s_barrier();
  out[ITEM] = 1;
}
KERNEL barriers_ok(IN, OUT) {
  UNUSED(in);
  __builtin_amdgcn_s_barrier();
  out[ITEM] = 1;
}

KERNEL progress(IN, OUT) {
  for (volatile u32 again = 1; again;)
    again = in[0] == 0;
  out[ITEM] = 1;
}
KERNEL progress_ok(IN, OUT) {
  for (volatile u32 again = 1; again;)
    again = in[0] != 0;
  out[ITEM] = 1;
}

/* The order of workgroups: a ticket of each goes to the place of its number, or to its sum. */
KERNEL ticket(IN, OUT) {
  UNUSED(in);
  if (ITEM == 0)
    out[1 + GROUP] = __atomic_fetch_add(out, 1, __ATOMIC_RELAXED);
}
KERNEL ticket_ok(IN, OUT) {
  UNUSED(in);
  if (ITEM == 0)
    __atomic_fetch_add(out, GROUP, __ATOMIC_RELAXED);
}
