//===- Image.h - code object images handed over by address or by file -------===//
//
// Owns finding the gfx950 code object in what hipModuleLoad and hipModuleLoadData are
// given: an ELF, or an uncompressed clang offload bundle of them. hipModuleLoadData
// gets an address without a size, so the size is worked out from the headers, and
// memory is copied in a way that answers with an error where it is not readable.
//
//===------------------------------------------------------------------------===//
#ifndef GFX950EMU_HIP_IMAGE_H
#define GFX950EMU_HIP_IMAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gfx950emu::hip {

/// Why an image holds no code object for this device, with its HIP error code.
class ImageError : public llvm::ErrorInfo<ImageError> {
public:
  static char ID;
  ImageError(hipError_t code, std::string text) : code(code), text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  hipError_t code;
  std::string text;
};

/// Bytes of an image, read at offsets from its start.
class ImageSource {
public:
  virtual ~ImageSource() = default;
  /// Copy `size` bytes; false when they are not all there.
  virtual bool read(uint64_t offset, void *out, size_t size) = 0;
};

/// An image in memory whose size nobody told.
class AddressSource final : public ImageSource {
public:
  explicit AddressSource(const void *address);
  ~AddressSource() override;
  AddressSource(const AddressSource &) = delete;
  AddressSource &operator=(const AddressSource &) = delete;
  bool read(uint64_t offset, void *out, size_t size) override;

private:
  uint64_t address;
  int file; ///< the kernel copies through it, and answers EFAULT instead of a signal
};

/// An image in memory that is read already.
class BufferSource final : public ImageSource {
public:
  explicit BufferSource(llvm::ArrayRef<uint8_t> bytes) : bytes(bytes) {}
  bool read(uint64_t offset, void *out, size_t size) override;

private:
  llvm::ArrayRef<uint8_t> bytes;
};

/// The bytes of the code object for gfx950:sramecc+:xnack-.
llvm::Expected<std::vector<uint8_t>> extractCodeObject(ImageSource &source);

} // namespace gfx950emu::hip

#endif // GFX950EMU_HIP_IMAGE_H
