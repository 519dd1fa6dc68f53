//===- Arguments.cpp - kernel arguments from the command line ---------------===//

#include "tools/gfx950emu/cli/Arguments.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/MemAlloc.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cstring>

namespace gfx950emu::cli {

char UsageError::ID = 0;

const char argSyntax[] = "buf:FILE, buf:FILE:rw, out:FILE:BYTES, i8:V, i16:V, i32:V, i64:V, f32:V, "
                         "f64:V, bytes:HEX or null";

namespace {

constexpr uint64_t bufferAlignment = 4096;
constexpr uint64_t maxOutputBytes = uint64_t{64} << 30; ///< all of it is written on the host

llvm::Error usage(const llvm::Twine &text) { return llvm::make_error<UsageError>(text.str()); }

template <typename T> std::vector<uint8_t> littleEndian(T value, size_t bytes = sizeof(T)) {
  std::vector<uint8_t> out(bytes);
  memcpy(out.data(), &value, bytes); // the emulator runs on little-endian hosts only
  return out;
}

/// A decimal or 0x integer that fits `bits` as signed or as unsigned.
llvm::Expected<uint64_t> parseInteger(llvm::StringRef text, unsigned bits) {
  llvm::StringRef digits = text;
  bool negative = digits.consume_front("-");
  unsigned radix = digits.consume_front("0x") ? 16 : 10;
  uint64_t magnitude = 0;
  bool bad = digits.empty() || !llvm::all_of(digits, llvm::isHexDigit) ||
             digits.getAsInteger(radix, magnitude);
  uint64_t most = negative ? uint64_t{1} << (bits - 1) : UINT64_MAX >> (64 - bits);
  if (bad || magnitude > most)
    return usage("expected a decimal or 0x integer of " + llvm::Twine(bits) + " bits, found '" +
                 text + "'");
  return negative ? -magnitude : magnitude;
}

template <typename T> llvm::Expected<std::vector<uint8_t>> parseFloat(llvm::StringRef text) {
  T value;
  if (text.empty() || !llvm::to_float(text, value))
    return usage("expected a floating-point number, found '" + text + "'");
  return littleEndian(value);
}

llvm::Expected<std::vector<uint8_t>> parseValue(llvm::StringRef type, llvm::StringRef text) {
  if (type == "f32")
    return parseFloat<float>(text);
  if (type == "f64")
    return parseFloat<double>(text);
  if (type == "bytes") {
    std::string raw;
    if (text.empty() || text.size() % 2 != 0 || !llvm::tryGetFromHex(text, raw))
      return usage("expected pairs of hexadecimal digits, found '" + text + "'");
    return std::vector<uint8_t>(raw.begin(), raw.end());
  }
  for (unsigned bits : {8u, 16u, 32u, 64u})
    if (type == ("i" + llvm::Twine(bits)).str()) {
      llvm::Expected<uint64_t> value = parseInteger(text, bits);
      if (!value)
        return value.takeError();
      return littleEndian(*value, bits / 8);
    }
  return usage("unknown kind '" + type + "'; expected " + argSyntax);
}

llvm::Expected<ArgSpec> parseSpec(llvm::StringRef text) {
  ArgSpec spec;
  spec.text = text.str();
  if (text == "null")
    return spec;
  auto [kind, rest] = text.split(':');
  if (kind == "buf") {
    spec.kind = rest.consume_back(":rw") ? ArgSpec::Kind::InOut : ArgSpec::Kind::Input;
    spec.file = rest.str();
  } else if (kind == "out") {
    auto [file, bytes] = rest.rsplit(':'); // a path may hold colons
    spec.kind = ArgSpec::Kind::Output;
    spec.file = file.str();
    llvm::Expected<uint64_t> count = parseInteger(bytes, 64);
    if (!count)
      return count.takeError();
    spec.bytes = *count;
    if (spec.bytes == 0 || spec.bytes > maxOutputBytes)
      return usage("expected 1 to " + llvm::Twine(maxOutputBytes) + " bytes, found " +
                   llvm::Twine(spec.bytes));
  } else {
    spec.kind = ArgSpec::Kind::Value;
    llvm::Expected<std::vector<uint8_t>> value = parseValue(kind, rest);
    if (!value)
      return value.takeError();
    spec.value = std::move(*value);
  }
  if (spec.isBuffer() && spec.file.empty())
    return usage("no file name");
  return spec;
}

std::string describe(const KernelArg &arg) {
  return arg.valueKind + " of " + std::to_string(arg.size) + " bytes at offset " +
         std::to_string(arg.offset);
}

/// An error unless `spec` can be the argument `arg`.
llvm::Error checkFit(const ArgSpec &spec, const KernelArg &arg) {
  bool fits = spec.kind == ArgSpec::Kind::Value
                  ? arg.valueKind == "by_value" && arg.size == spec.value.size()
                  : arg.valueKind == "global_buffer" && arg.size == sizeof(uint64_t);
  if (fits)
    return llvm::Error::success();
  return usage("expected " + describe(arg) + ", found '" + spec.text + "'");
}

} // namespace

llvm::Expected<ArgSpec> parseArg(llvm::StringRef text) {
  llvm::Expected<ArgSpec> spec = parseSpec(text);
  if (!spec)
    return usage("--arg " + text + ": " + toString(spec.takeError()));
  return spec;
}

Arguments::Arguments(Arguments &&other) noexcept
    : memory(other.memory), all(std::move(other.all)), packed(std::move(other.packed)) {
  other.all.clear();
}

Arguments::~Arguments() {
  for (const Buffer &buffer : all) {
    if (buffer.spec.kind == ArgSpec::Kind::Input) {
      memory->remove(reinterpret_cast<uint64_t>(buffer.data));
      llvm::deallocate_buffer(buffer.data, buffer.bytes, bufferAlignment);
    } else {
      memory->release(buffer.data);
    }
  }
}

llvm::Expected<const Arguments::Buffer *> Arguments::addBuffer(const ArgSpec &spec) {
  Buffer buffer;
  buffer.spec = spec;
  buffer.bytes = spec.bytes;
  if (spec.kind != ArgSpec::Kind::Output) {
    auto file = llvm::MemoryBuffer::getFile(spec.file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file)
      return llvm::createFileError(spec.file, file.getError());
    llvm::StringRef contents = (*file)->getBuffer();
    if (contents.empty())
      return usage("'" + spec.file + "' is empty: a buffer has at least one byte");
    buffer.initial.assign(contents.begin(), contents.end());
    buffer.bytes = contents.size();
  }
  if (spec.kind == ArgSpec::Kind::Input) {
    // Not MemoryMap::allocate(), whose memory is writable.
    buffer.data = static_cast<uint8_t *>(llvm::allocate_buffer(buffer.bytes, bufferAlignment));
    memory->add(reinterpret_cast<uint64_t>(buffer.data), buffer.bytes, /*writable=*/false);
  } else {
    buffer.data = static_cast<uint8_t *>(memory->allocate(buffer.bytes));
    if (!buffer.data)
      return usage("cannot allocate " + llvm::Twine(buffer.bytes) + " bytes");
    if (spec.kind == ArgSpec::Kind::InOut)
      memory->markDefined(reinterpret_cast<uint64_t>(buffer.data), buffer.bytes);
  }
  all.push_back(std::move(buffer));
  return &all.back();
}

llvm::Expected<Arguments> Arguments::bind(const KernelInfo &kernel, llvm::ArrayRef<ArgSpec> specs,
                                          MemoryMap &memory) {
  std::vector<const KernelArg *> explicitArgs;
  for (const KernelArg &arg : kernel.args)
    if (!llvm::StringRef(arg.valueKind).starts_with("hidden_"))
      explicitArgs.push_back(&arg);
  if (explicitArgs.size() != specs.size()) {
    std::string list;
    for (const KernelArg *arg : explicitArgs)
      list += "\n  " + describe(*arg);
    return usage("kernel '" + kernel.name + "': expected " + llvm::Twine(explicitArgs.size()) +
                 " arguments, found " + llvm::Twine(specs.size()) + list);
  }
  Arguments arguments(memory);
  for (size_t i = 0; i < specs.size(); ++i) {
    const KernelArg &arg = *explicitArgs[i];
    auto in = [&](llvm::Error error) {
      return usage("kernel '" + kernel.name + "', argument " + llvm::Twine(i + 1) + ": " +
                   toString(std::move(error)));
    };
    if (llvm::Error misfit = checkFit(specs[i], arg))
      return in(std::move(misfit));
    std::vector<uint8_t> value = specs[i].value;
    if (specs[i].kind == ArgSpec::Kind::Null)
      value = littleEndian(uint64_t{0});
    if (specs[i].isBuffer()) {
      llvm::Expected<const Buffer *> buffer = arguments.addBuffer(specs[i]);
      if (!buffer)
        return buffer.takeError();
      value = littleEndian(reinterpret_cast<uint64_t>((*buffer)->data));
    }
    if (arguments.packed.size() < arg.offset + value.size())
      arguments.packed.resize(arg.offset + value.size());
    std::copy(value.begin(), value.end(), arguments.packed.begin() + arg.offset);
  }
  return arguments;
}

void Arguments::reset(uint8_t fill) {
  for (const Buffer &buffer : all) {
    if (buffer.spec.kind == ArgSpec::Kind::Output)
      memset(buffer.data, fill, buffer.bytes);
    else
      std::copy(buffer.initial.begin(), buffer.initial.end(), buffer.data);
  }
}

std::vector<std::pair<uint64_t, uint64_t>> unwrittenRanges(llvm::ArrayRef<uint8_t> first,
                                                           llvm::ArrayRef<uint8_t> second) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (uint64_t i = 0; i < first.size(); ++i) {
    if (first[i] != 0x00 || second[i] != 0xff)
      continue;
    if (!ranges.empty() && ranges.back().second == i)
      ++ranges.back().second;
    else
      ranges.emplace_back(i, i + 1);
  }
  return ranges;
}

} // namespace gfx950emu::cli
