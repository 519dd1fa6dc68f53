//===- Guard.h - shape guards as data ---------------------------------------===//
//
// A guard is a list of terms (field, relation, values), all of which must hold
// (rule G1). The generator writes guards into the manifest, the runtime and the
// tests evaluate the same data with the functions below.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4_RUNTIME_GUARD_GUARD_H
#define NVFP4_RUNTIME_GUARD_GUARD_H

#include "runtime/support/Error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nvfp4rt {

enum class Field : uint8_t {
#define NVFP4_INT_FIELD(name, doc) name,
#define NVFP4_SYMBOL_FIELD(name, doc, ...) name,
#include "runtime/guard/Fields.def"
};

#define NVFP4_INT_FIELD(name, doc) +1
#define NVFP4_SYMBOL_FIELD(name, doc, ...) +1
inline constexpr size_t kFieldCount = 0
#include "runtime/guard/Fields.def"
    ;

std::string_view fieldName(Field field);
std::optional<Field> fieldByName(std::string_view name);
/// All names, joined by ", ".
std::string fieldNames();
/// Symbols of a symbolic field in value order; empty for an integer field.
std::span<const std::string_view> fieldSymbols(Field field);
/// "decode" for a symbolic field's value, else the decimal number.
std::string valueText(Field field, int64_t value);
/// Value of a symbol of `field`; the error names the field, the symbols it knows and the one found.
Result<int64_t> symbolValue(Field field, std::string_view symbol);

enum class Relation : uint8_t {
  Equal, ///< value == values[0]
  OneOf, ///< value is one of values (sorted, unique, at least one)
  Range, ///< values[0] <= value <= values[1]
};

struct Term {
  Field field;
  Relation relation;
  std::vector<int64_t> values;
  bool operator==(const Term &) const = default;
  bool holds(int64_t value) const;
  /// "requests in [33, 48]", "phase == decode", "query_len in {1, 8}".
  std::string text() const;
};

struct Guard {
  std::vector<Term> terms; ///< at most one term a field
  bool operator==(const Guard &) const = default;
  const Term *find(Field field) const;
  /// All terms joined by ", ".
  std::string text() const;
};

/// The values of one request. A field may be absent.
class Request {
public:
  void set(Field field, int64_t value) { values_[static_cast<size_t>(field)] = value; }
  std::optional<int64_t> get(Field field) const { return values_[static_cast<size_t>(field)]; }
  std::string text() const;

private:
  std::array<std::optional<int64_t>, kFieldCount> values_{};
};

/// Build a request from the C interface's fields; unknown names and symbols, duplicates and
/// null names are NVFP4RT_ERROR_UNKNOWN_FIELD or NVFP4RT_ERROR_INVALID_ARGUMENT.
Result<Request> makeRequest(std::span<const nvfp4rt_field> fields);

/// Why a guard does not hold: the first failed term in guard order.
struct Mismatch {
  size_t passed = 0;            ///< terms that hold before the first failed one
  const Term *term = nullptr;   ///< failed term; null if the request has a field the guard lacks
  std::optional<Field> extra;   ///< a request field that the guard does not know (never ignored)
  std::optional<int64_t> value; ///< the request's value; empty if the request lacks the field
  std::string text() const;
};

/// Empty when the guard holds for the request. A request field that the guard does not have, and a
/// guard field that the request does not have, are mismatches (rule G1).
std::optional<Mismatch> mismatch(const Guard &guard, const Request &request);

} // namespace nvfp4rt

#endif // NVFP4_RUNTIME_GUARD_GUARD_H
