//===- Sha256.cpp - SHA-256 through OpenSSL's EVP interface -----------------===//
//
// See Sha256.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/support/Sha256.h"

#include <memory>
#include <new>
#include <openssl/evp.h>

namespace nvfp4rt {

Sha256Digest sha256(std::initializer_list<std::span<const uint8_t>> pieces) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  Sha256Digest digest{};
  bool ok = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  for (std::span<const uint8_t> piece : pieces)
    ok = ok && EVP_DigestUpdate(context.get(), piece.data(), piece.size());
  if (!ok || !EVP_DigestFinal_ex(context.get(), digest.data(), nullptr))
    throw std::bad_alloc(); // the only way these calls fail on valid input
  return digest;
}

std::string hexText(const Sha256Digest &digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

} // namespace nvfp4rt
