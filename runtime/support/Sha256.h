//===- Sha256.h - SHA-256 over pieces of bytes ------------------------------===//
//
// A thin owner of OpenSSL's digest context.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_SUPPORT_SHA256_H
#define NVFP4_RUNTIME_SUPPORT_SHA256_H

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace nvfp4rt {

using Sha256Digest = std::array<uint8_t, 32>;

/// Digest of the concatenation of `pieces`. Throws std::bad_alloc when OpenSSL has no memory.
Sha256Digest sha256(std::initializer_list<std::span<const uint8_t>> pieces);

/// 64 lower-case hex digits.
std::string hexText(const Sha256Digest &digest);

inline std::span<const uint8_t> asBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_SUPPORT_SHA256_H
