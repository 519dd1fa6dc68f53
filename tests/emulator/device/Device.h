//===- Device.h - one source for the device and the host ---------------------------===//
//
// Kernels below are compiled by clang for gfx950 and, as plain functions that run one
// work-item a call, for the host. Both must give the same bytes.
//
//===------------------------------------------------------------------------===//
#ifndef TESTS_EMULATOR_DEVICE_DEVICE_H
#define TESTS_EMULATOR_DEVICE_DEVICE_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

#ifdef __AMDGCN__
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 1024))) void
#define LOCAL __attribute__((address_space(3)))
/// A variable in LDS.
#define SHARED static __attribute__((address_space(3), loader_uninitialized))
static inline u32 globalId() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}
static inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#else
#define KERNEL extern "C" void
/// The work-item that the host runs.
extern u32 hostGlobalId;
static inline u32 globalId() { return hostGlobalId; }
#endif

#endif // TESTS_EMULATOR_DEVICE_DEVICE_H
