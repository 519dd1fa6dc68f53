//===- Metadata.cpp - the msgpack note of a code object ---------------------------===//
//
// Walks the note with LLVM's streaming reader: its document class assumes well-formed
// input.
//
//===------------------------------------------------------------------------===//

#include "tools/gfx950emu/core/Loader.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/BinaryFormat/MsgPackReader.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace gfx950emu {

namespace {

/// Far deeper than any real note.
constexpr unsigned depthLimit = 16;

/// What the note says of one kernel, before it is matched with a descriptor.
struct KernelNote {
  std::string symbol;
  std::optional<uint64_t> wavefrontSize, kernargBytes, maxWorkgroup;
  struct Arg {
    std::string valueKind;
    std::optional<uint64_t> offset, size;
  };
  std::vector<Arg> args;
};

class NoteReader {
public:
  explicit NoteReader(StringRef blob) : reader(blob) {}

  Error read(std::vector<KernelNote> &kernels) {
    return readMap("the root", [&](StringRef key) -> Error {
      if (key != "amdhsa.kernels")
        return skip(0);
      return readArray(key, [&]() -> Error { return readKernel(kernels.emplace_back()); });
    });
  }

private:
  Expected<msgpack::Object> next() {
    msgpack::Object object;
    Expected<bool> got = reader.read(object);
    if (!got)
      return badCodeObject("metadata: " + toString(got.takeError()));
    if (!*got)
      return badCodeObject("metadata: the note ends inside a value");
    return object;
  }

  Error readMap(StringRef what, function_ref<Error(StringRef)> readValue) {
    Expected<msgpack::Object> map = next();
    if (!map)
      return map.takeError();
    if (map->Kind != msgpack::Type::Map)
      return badCodeObject("metadata: " + what + " is no map");
    for (size_t i = 0; i < map->Length; ++i) {
      Expected<msgpack::Object> key = next();
      if (!key)
        return key.takeError();
      if (key->Kind != msgpack::Type::String)
        return badCodeObject("metadata: a key of " + what + " is no string");
      if (Error e = readValue(key->Raw))
        return e;
    }
    return Error::success();
  }

  Error readArray(StringRef what, function_ref<Error()> readElement) {
    Expected<msgpack::Object> array = next();
    if (!array)
      return array.takeError();
    if (array->Kind != msgpack::Type::Array)
      return badCodeObject("metadata: " + what + " is no array");
    for (size_t i = 0; i < array->Length; ++i)
      if (Error e = readElement())
        return e;
    return Error::success();
  }

  Error readUnsigned(StringRef what, std::optional<uint64_t> &out) {
    Expected<msgpack::Object> object = next();
    if (!object)
      return object.takeError();
    if (object->Kind == msgpack::Type::UInt)
      out = object->UInt;
    else if (object->Kind == msgpack::Type::Int && object->Int >= 0)
      out = uint64_t(object->Int);
    else
      return badCodeObject("metadata: " + what + " is no unsigned number");
    return Error::success();
  }

  Error readString(StringRef what, std::string &out) {
    Expected<msgpack::Object> object = next();
    if (!object)
      return object.takeError();
    if (object->Kind != msgpack::Type::String)
      return badCodeObject("metadata: " + what + " is no string");
    out = object->Raw.str();
    return Error::success();
  }

  /// Read over a value of any kind.
  Error skip(unsigned depth) {
    if (depth > depthLimit)
      return badCodeObject("metadata: nested too deeply");
    Expected<msgpack::Object> object = next();
    if (!object)
      return object.takeError();
    uint64_t children = object->Kind == msgpack::Type::Array ? object->Length
                        : object->Kind == msgpack::Type::Map ? 2 * uint64_t(object->Length)
                                                             : 0;
    for (uint64_t i = 0; i < children; ++i)
      if (Error e = skip(depth + 1))
        return e;
    return Error::success();
  }

  Error readKernel(KernelNote &kernel) {
    return readMap("an element of amdhsa.kernels", [&](StringRef key) -> Error {
      if (key == ".symbol")
        return readString(key, kernel.symbol);
      if (key == ".wavefront_size")
        return readUnsigned(key, kernel.wavefrontSize);
      if (key == ".kernarg_segment_size")
        return readUnsigned(key, kernel.kernargBytes);
      if (key == ".max_flat_workgroup_size")
        return readUnsigned(key, kernel.maxWorkgroup);
      if (key == ".args")
        return readArray(key, [&]() -> Error { return readArg(kernel.args.emplace_back()); });
      return skip(0);
    });
  }

  Error readArg(KernelNote::Arg &arg) {
    return readMap("an element of .args", [&](StringRef key) -> Error {
      if (key == ".value_kind")
        return readString(key, arg.valueKind);
      if (key == ".offset")
        return readUnsigned(key, arg.offset);
      if (key == ".size")
        return readUnsigned(key, arg.size);
      return skip(0);
    });
  }

  msgpack::Reader reader;
};

Error merge(const KernelNote &note, KernelInfo &kernel) {
  std::string where = "metadata of " + kernel.name + ": ";
  if (note.wavefrontSize && *note.wavefrontSize != 64)
    return badCodeObject(where + ".wavefront_size: expected 64, found " +
                         Twine(*note.wavefrontSize));
  if (note.kernargBytes && *note.kernargBytes != kernel.kernargBytes)
    return badCodeObject(where + ".kernarg_segment_size " + Twine(*note.kernargBytes) +
                         " differs from the descriptor's " + Twine(kernel.kernargBytes));
  if (note.maxWorkgroup) {
    if (*note.maxWorkgroup == 0 || *note.maxWorkgroup > 1024)
      return badCodeObject(where + ".max_flat_workgroup_size: expected 1 to 1024, found " +
                           Twine(*note.maxWorkgroup));
    kernel.maxWorkgroup = uint32_t(*note.maxWorkgroup);
  }
  kernel.args.clear();
  for (const KernelNote::Arg &arg : note.args) {
    if (!arg.offset || !arg.size || arg.valueKind.empty())
      return badCodeObject(where + "an argument lacks .offset, .size or .value_kind");
    if (*arg.offset > kernel.kernargBytes || *arg.size > kernel.kernargBytes - *arg.offset)
      return badCodeObject(where + "argument at " + Twine(*arg.offset) + " of " + Twine(*arg.size) +
                           " bytes exceeds the kernarg segment of " + Twine(kernel.kernargBytes));
    kernel.args.push_back({arg.valueKind, uint32_t(*arg.offset), uint32_t(*arg.size)});
  }
  return Error::success();
}

} // namespace

Error parseMetadata(StringRef blob, std::vector<KernelInfo> &kernels) {
  std::vector<KernelNote> notes;
  if (Error e = NoteReader(blob).read(notes))
    return e;
  for (const KernelNote &note : notes) {
    StringRef symbol = note.symbol;
    auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const KernelInfo &k) {
      return symbol.ends_with(".kd") && symbol.drop_back(3) == k.name;
    });
    if (kernel == kernels.end())
      return badCodeObject("metadata: .symbol '" + symbol + "' names no kernel descriptor");
    if (Error e = merge(note, *kernel))
      return e;
  }
  return Error::success();
}

} // namespace gfx950emu
