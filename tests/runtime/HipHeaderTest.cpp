//===- HipHeaderTest.cpp - our HIP table against HIP's own header -----------===//
//
// The runtime builds without ROCm, from declarations of its own. Here they are
// held against the real ones: same number of parameters, and each of the same
// class and size, which is all that the C calling convention sees.
//
//===------------------------------------------------------------------------===//
#include "runtime/hip/HipApi.h"

#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1 // no C++ overloads beside the C functions
#include <hip/hip_runtime_api.h>

#include <gtest/gtest.h>
#include <type_traits>

using namespace nvfp4rt;

namespace {

template <typename Ours, typename Theirs>
inline constexpr bool kSameArgument =
    (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) ||
    ((std::is_integral_v<Ours> || std::is_enum_v<Ours>) &&
     (std::is_integral_v<Theirs> || std::is_enum_v<Theirs>) && sizeof(Ours) == sizeof(Theirs));

template <typename Ours, typename Theirs> struct SameAbi : std::false_type {};
template <typename R1, typename... A1, typename R2, typename... A2>
  requires(sizeof...(A1) == sizeof...(A2))
struct SameAbi<R1(A1...), R2(A2...)>
    : std::bool_constant<kSameArgument<R1, R2> && (kSameArgument<A1, A2> && ...)> {};

// The check itself bites.
static_assert(SameAbi<int(void *, unsigned), hipError_t(hipModule_t, unsigned)>::value);
static_assert(!SameAbi<int(void *), hipError_t(hipModule_t, unsigned)>::value);
static_assert(!SameAbi<int(void *, uint64_t), hipError_t(hipModule_t, unsigned)>::value);
static_assert(!SameAbi<int(int), hipError_t(hipModule_t)>::value);

#define NVFP4_HIP_FUNCTION(name, ret, params)                                                      \
  template <typename R, typename... A> constexpr bool check_##name(R (*)(A...)) {                  \
    return SameAbi<ret params, R(A...)>::value;                                                    \
  }
#include "runtime/hip/HipFunctions.def"

#define NVFP4_HIP_FUNCTION(name, ret, params)                                                      \
  static_assert(check_##name(&::name), #name " differs from HIP's declaration");
#include "runtime/hip/HipFunctions.def"

static_assert(hip::kSuccess == hipSuccess);
static_assert(hip::kErrorNoDevice == hipErrorNoDevice);
static_assert(hip::kMemcpyHostToDevice == hipMemcpyHostToDevice);
static_assert(hip::kMemcpyDeviceToHost == hipMemcpyDeviceToHost);

} // namespace

TEST(HipHeader, LaunchParameters) {
  EXPECT_EQ(reinterpret_cast<void *>(hip::kLaunchParamBufferPointer),
            HIP_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(reinterpret_cast<void *>(hip::kLaunchParamBufferSize), HIP_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_EQ(reinterpret_cast<void *>(hip::kLaunchParamEnd), HIP_LAUNCH_PARAM_END);
}

TEST(HipHeader, ArchitectureName) {
  EXPECT_EQ(sizeof(hipDeviceProp_t::gcnArchName), hip::kArchNameBytes);
  EXPECT_LE(sizeof(hipDeviceProp_t), hip::kPropertiesBytes);
  EXPECT_EQ(offsetof(hipDeviceProp_t, gcnArchName),
            HIP_VERSION_MAJOR >= 6 ? hip::kArchNameOffsetR0600 : hip::kArchNameOffset);
}
