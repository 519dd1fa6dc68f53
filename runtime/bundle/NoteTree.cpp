//===- NoteTree.cpp - a msgpack value as a tree -----------------------------===//
//
// See NoteTree.h. nlohmann's reader does the parsing and tells the builder.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/NoteTree.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nvfp4rt {
namespace {

using Json = nlohmann::json;
using Kind = NoteValue::Kind;

/// Levels of the deepest list or map in real metadata: root, kernels, kernel, args, arg. The reader
/// recurses once a level, and a level costs an attacker one byte.
constexpr size_t kMaxDepth = 16;

/// The handler of nlohmann's reader; false stops it.
class Builder {
public:
  explicit Builder(NoteValue &root) : root(root) {}

  bool null() { return add(Kind::Null); }
  bool boolean(bool value) { return add(Kind::Boolean, value); }
  bool number_integer(Json::number_integer_t) { return add(Kind::Number); } // below zero
  bool number_unsigned(Json::number_unsigned_t value) { return add(Kind::Unsigned, value); }
  bool number_float(Json::number_float_t, const std::string &) { return add(Kind::Number); }
  bool string(std::string &value) {
    append(Kind::Text).text = std::move(value);
    return true;
  }
  bool binary(Json::binary_t &) { return add(Kind::Binary); }
  bool start_object(size_t) { return open(Kind::Map); }
  bool start_array(size_t) { return open(Kind::List); }
  bool key(std::string &name) {
    std::vector<std::string> &keys = path.back()->keys;
    if (std::ranges::find(keys, name) != keys.end())
      return false;
    keys.push_back(std::move(name));
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(size_t, const std::string &, const Json::exception &) { return false; }

private:
  /// Where the next value goes. A container does not grow while one inside of it is open, so the
  /// path stays valid.
  NoteValue &append(Kind kind, uint64_t number = 0) {
    NoteValue &value = path.empty() ? root : path.back()->items.emplace_back();
    value.kind = kind;
    value.number = number;
    return value;
  }
  bool add(Kind kind, uint64_t number = 0) {
    append(kind, number);
    return true;
  }
  bool open(Kind kind) {
    path.push_back(&append(kind));
    return path.size() <= kMaxDepth;
  }
  bool close() {
    path.pop_back();
    return true;
  }

  NoteValue &root;
  std::vector<NoteValue *> path; ///< the containers that are open
};

} // namespace

const NoteValue *NoteValue::find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key);
  return found == keys.end() ? nullptr : &items[static_cast<size_t>(found - keys.begin())];
}

std::string_view NoteValue::kindName() const {
  constexpr std::string_view kNames[] = {"null",   "boolean", "number", "number",
                                         "string", "binary",  "array",  "object"};
  return kNames[static_cast<size_t>(kind)];
}

std::optional<NoteValue> parseNote(Bytes bytes) {
  NoteValue root;
  Builder builder(root);
  if (!Json::sax_parse(bytes.begin(), bytes.end(), &builder, Json::input_format_t::msgpack))
    return std::nullopt;
  return root;
}

} // namespace nvfp4rt
