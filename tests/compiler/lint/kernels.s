// A kernel that breaks no rule, with a kernel descriptor and a note of their own; assembled with the
// C preprocessor. Each macro plants one fault: SCRATCH and DYNAMIC_STACK, VGPR_SPILLS, SGPR_SPILLS,
// HIDDEN_ARG, PRELOAD, LDS, LONG_TEXT, HAZARD, ENTRY (the entry at another offset), NOTE_SYMBOL
// (another descriptor in the note).

#ifndef LDS
#define LDS 163840
#endif
#ifndef SCRATCH
#define SCRATCH 0
#endif
#ifndef DYNAMIC_STACK
#define DYNAMIC_STACK false
#endif
#ifndef VGPR_SPILLS
#define VGPR_SPILLS 0
#endif
#ifndef SGPR_SPILLS
#define SGPR_SPILLS 0
#endif
#ifndef NOTE_SYMBOL
#define NOTE_SYMBOL kernel.kd
#endif
#ifndef LONG_TEXT
#define LONG_TEXT 8192
#endif

  .text
  .globl kernel
  .protected kernel
  .p2align 8
  .type kernel,@function
kernel:
  s_load_dwordx2 s[0:1], s[0:1], 0x0
#ifdef HAZARD
  v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], 0
  v_mov_b32_e32 v12, v0
#endif
  s_branch .Lover
  .fill LONG_TEXT - 4, 4, 0xbf800000
.Lover:
  s_endpgm
.Lend:
  .size kernel, .Lend-kernel

  .section .rodata,"a"
  .p2align 6
  .amdhsa_kernel kernel
    .amdhsa_group_segment_fixed_size LDS
    .amdhsa_private_segment_fixed_size SCRATCH
    .amdhsa_kernarg_size 8
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
#ifdef PRELOAD
    .amdhsa_user_sgpr_kernarg_preload_length 2
    .amdhsa_user_sgpr_kernarg_preload_offset 0
#endif
    .amdhsa_next_free_vgpr 16
    .amdhsa_next_free_sgpr 8
    .amdhsa_accum_offset 16
  .end_amdhsa_kernel

  .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: kernel
    .symbol: NOTE_SYMBOL
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: LDS
    .private_segment_fixed_size: SCRATCH
    .uses_dynamic_stack: DYNAMIC_STACK
    .wavefront_size: 64
    .sgpr_count: 14
    .vgpr_count: 16
    .agpr_count: 0
    .sgpr_spill_count: SGPR_SPILLS
    .vgpr_spill_count: VGPR_SPILLS
    .max_flat_workgroup_size: 64
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
#ifdef HIDDEN_ARG
      - { .offset: 8, .size: 4, .value_kind: hidden_block_count_x }
#endif
...
  .end_amdgpu_metadata
