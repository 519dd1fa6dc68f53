// Two small kernels with the argument list of kv_store, for bundles whose every number is known.
// Assembled with the C preprocessor; FIRST picks the kernel of an object. The other macros plant
// faults that the runtime must refuse: SPILLS, DYNAMIC_STACK and HIDDEN_ARG (G7), ROWS_AT (an
// argument at another offset), NOTE_SYMBOL (another descriptor in the note), EXTRA_DESCRIPTOR (a
// descriptor of no kernel).

#ifdef FIRST
#define NAME kernel_a
#define DESCRIPTOR kernel_a.kd
#define LDS 1024
#define VGPRS 20
#define AGPRS 8
#define ACCUM 12
#define SGPRS 24
#else
#define NAME kernel_b
#define DESCRIPTOR kernel_b.kd
#define LDS 0
#define VGPRS 4
#define AGPRS 0
#define ACCUM 4
#define SGPRS 12
#endif

#ifndef SPILLS
#define SPILLS 0
#endif
#ifndef ROWS_AT
#define ROWS_AT 296
#endif
#ifndef NOTE_SYMBOL
#define NOTE_SYMBOL DESCRIPTOR
#endif
#ifndef DYNAMIC_STACK
#define DYNAMIC_STACK false
#endif

  .text
  .globl NAME
  .protected NAME
  .p2align 8
  .type NAME,@function
NAME:
  s_load_dwordx2 s[0:1], s[0:1], 0x0
  v_mov_b32_e32 v0, LDS
  s_waitcnt lgkmcnt(0)
  s_endpgm
.Lend:
  .size NAME, .Lend-NAME

  .section .rodata,"a"
  .p2align 6
  .amdhsa_kernel NAME
    .amdhsa_group_segment_fixed_size LDS
    .amdhsa_kernarg_size 304
    .amdhsa_user_sgpr_count 2
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr VGPRS
    .amdhsa_next_free_sgpr 2
    .amdhsa_accum_offset ACCUM
  .end_amdhsa_kernel

#ifdef EXTRA_DESCRIPTOR
  .globl kernel_c.kd
  .protected kernel_c.kd
  .type kernel_c.kd,@object
kernel_c.kd:
  .zero 64
  .size kernel_c.kd, 64
#endif

#define P(at) { .offset: at, .size: 8, .value_kind: global_buffer, .address_space: global }
#define L(at) { .offset: at, .size: 8, .value_kind: by_value }
#define W(at) { .offset: at, .size: 4, .value_kind: by_value }
#ifdef HIDDEN_ARG
#define LAST { .offset: 300, .size: 4, .value_kind: hidden_block_count_x }
#else
#define LAST W(300)
#endif

  .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: TARGET
amdhsa.kernels:
  - .name: NAME
    .symbol: NOTE_SYMBOL
    .kernarg_segment_size: 304
    .kernarg_segment_align: 8
    .group_segment_fixed_size: LDS
    .private_segment_fixed_size: 0
    .max_flat_workgroup_size: 256
    .wavefront_size: 64
    .sgpr_count: SGPRS
    .vgpr_count: VGPRS
    .agpr_count: AGPRS
    .sgpr_spill_count: SPILLS
    .vgpr_spill_count: 0
    .uses_dynamic_stack: DYNAMIC_STACK
    .args: [ P(0), L(8), L(16), P(24), L(32), L(40), P(48), L(56), L(64), P(72), L(80), L(88), L(96), P(104), L(112), L(120), L(128), P(136), L(144), L(152), L(160), P(168), L(176), L(184), L(192), P(200), L(208), L(216), L(224), P(232), L(240), L(248), L(256), P(264), P(272), L(280), L(288), W(ROWS_AT), LAST ]
  .end_amdgpu_metadata
