// Kernels of the benchmark: a loop of s6 iterations over registers, then one store a lane, so that
// two interpreters can be compared by what they leave in memory. Arguments: the buffer.
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"

.macro begin name
  .text
  .globl \name
  .p2align 8
  .type \name,@function
\name:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_movk_i32 s6, 500
  s_lshl_b32 s7, s2, 8
  v_lshlrev_b32_e32 v30, 2, v0
  v_add_u32_e32 v1, s7, v30
  v_mov_b32_e32 v2, 1.0
  v_mov_b32_e32 v3, 0.5
  v_mov_b32_e32 v4, 2.0
  v_mov_b32_e32 v5, 0
  v_mov_b32_e32 v6, 0
  v_mov_b32_e32 v7, v0
  v_mov_b32_e32 v8, v0
  v_mov_b32_e32 v11, v0
  v_mov_b32_e32 v15, 0
  // Halves of f16 for the matrix operands: 1.0 and 0.5, the double of that in odd lanes.
  v_and_b32_e32 v29, 1, v0
  v_lshlrev_b32_e32 v29, 10, v29
  v_lshl_add_u32 v29, v29, 16, v29
  .irp r, 16, 17, 18, 19
    v_add_u32_e32 v\r, 0x3c003c00, v29
  .endr
  .irp r, 20, 21, 22, 23
    v_add_u32_e32 v\r, 0x38003800, v29
  .endr
  .irp r, 24, 25, 26, 27
    v_mov_b32_e32 v\r, 0
  .endr
  s_waitcnt lgkmcnt(0)
.L\name\()_loop:
.endm

.macro end name
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .L\name\()_loop
  s_nop 15
  v_cvt_u32_f32_e32 v24, v24
  v_add_u32_e32 v2, v2, v24
  v_add_u32_e32 v2, v2, v15
  v_add_u32_e32 v2, v2, v11
  global_store_dword v1, v2, s[4:5]
  s_endpgm
.L\name\()_end:
  .size \name, .L\name\()_end-\name
  .section .rodata,"a",@progbits
  .p2align 6
  .amdhsa_kernel \name
    .amdhsa_group_segment_fixed_size 1024
    .amdhsa_kernarg_size 8
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr 32
    .amdhsa_next_free_sgpr 16
    .amdhsa_accum_offset 32
  .end_amdhsa_kernel
.endm

// 15 VALU instructions.
.macro arithmetic
  v_fma_f32 v2, v2, v3, v4
  v_mul_f32_e32 v5, v2, v3
  v_add_f32_e32 v6, v5, v2
  v_max_f32_e32 v6, v6, v2
  v_sub_f32_e32 v6, v6, v5
  v_add_u32_e32 v7, v7, v0
  v_lshlrev_b32_e32 v8, 3, v7
  v_xor_b32_e32 v9, v8, v7
  v_and_b32_e32 v10, v9, v8
  v_cmp_gt_u32_e32 vcc, v7, v8
  v_cndmask_b32_e32 v11, v9, v10, vcc
  v_bfe_u32 v12, v7, 4, 8
  v_lshl_add_u32 v13, v12, 2, v8
  v_or_b32_e32 v14, v13, v9
  v_add3_u32 v15, v15, v14, v11
.endm
.macro matrix
  v_mfma_f32_16x16x32_f16 v[24:27], v[16:19], v[20:23], v[24:27]
.endm

begin valu
.rept 4
  arithmetic
.endr
end valu

begin mfma
.rept 8
  matrix
.endr
end mfma

// One MFMA for 15 VALU instructions.
begin mix
.rept 4
  arithmetic
  matrix
.endr
end mix

// One MFMA for 60 VALU instructions.
begin light_mix
.rept 4
  arithmetic
.endr
  matrix
end light_mix

// Loads, stores and LDS, one dword a lane.
begin memory
.rept 4
  global_load_dword v12, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v12, v12, v0
  ds_write_b32 v30, v12
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v13, v30
  s_waitcnt lgkmcnt(0)
  v_add_u32_e32 v15, v15, v13
  global_store_dword v1, v13, s[4:5]
.endr
end memory

.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {.name: valu, .symbol: valu.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 1024, .private_segment_fixed_size: 0, .max_flat_workgroup_size: 64, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 32, .args: [{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}]}
  - {.name: mfma, .symbol: mfma.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 1024, .private_segment_fixed_size: 0, .max_flat_workgroup_size: 64, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 32, .args: [{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}]}
  - {.name: mix, .symbol: mix.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 1024, .private_segment_fixed_size: 0, .max_flat_workgroup_size: 64, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 32, .args: [{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}]}
  - {.name: light_mix, .symbol: light_mix.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 1024, .private_segment_fixed_size: 0, .max_flat_workgroup_size: 64, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 32, .args: [{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}]}
  - {.name: memory, .symbol: memory.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 1024, .private_segment_fixed_size: 0, .max_flat_workgroup_size: 64, .wavefront_size: 64, .sgpr_count: 16, .vgpr_count: 32, .args: [{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}]}
.end_amdgpu_metadata
