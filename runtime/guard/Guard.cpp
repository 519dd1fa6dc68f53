//===- Guard.cpp - fields, relations and their evaluation -------------------===//
//
// Everything here follows from Fields.def and the relation of a term; there is
// no code for a particular field.
//
//===------------------------------------------------------------------------===//
#include "runtime/guard/Guard.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nvfp4rt {
namespace {

struct FieldInfo {
  std::string_view name;
  std::span<const std::string_view> symbols; ///< empty for an integer field
};

#define NVFP4_SYMBOL_FIELD(name, doc, ...)                                                         \
  constexpr std::string_view name##Symbols[] = {__VA_ARGS__};
#include "runtime/guard/Fields.def"

constexpr FieldInfo kFields[kFieldCount] = {
#define NVFP4_INT_FIELD(name, doc) FieldInfo{#name, {}},
#define NVFP4_SYMBOL_FIELD(name, doc, ...) FieldInfo{#name, name##Symbols},
#include "runtime/guard/Fields.def"
};

/// A hash table in which no two field names meet: a request's names are looked up in every step.
constexpr size_t kSlots = 64;
static_assert(kFieldCount < kSlots);

constexpr size_t slotOf(std::string_view name, uint32_t seed) {
  const auto at = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(name[i])); };
  const uint32_t mixed = at(0) + (at(name.size() - 1) << 8) + (at(name.size() / 2) << 16) +
                         (static_cast<uint32_t>(name.size()) << 24);
  return (mixed * seed) >> 26;
}

struct FieldSlots {
  uint32_t seed = 0;
  std::array<uint8_t, kSlots> slots{}; ///< kFieldCount where there is none
};

consteval FieldSlots placeFields() {
  for (uint32_t seed = 0x9e3779b1;; seed += 2) {
    FieldSlots table{seed, {}};
    table.slots.fill(static_cast<uint8_t>(kFieldCount));
    bool placed = true;
    for (size_t field = 0; field < kFieldCount && placed; ++field) {
      uint8_t &slot = table.slots[slotOf(kFields[field].name, seed)];
      placed = slot == kFieldCount;
      slot = static_cast<uint8_t>(field);
    }
    if (placed)
      return table;
  }
}
constexpr FieldSlots kFieldAt = placeFields();

const FieldInfo &info(Field field) { return kFields[static_cast<size_t>(field)]; }

std::string joined(Field field, std::span<const int64_t> values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + valueText(field, value);
  return text;
}

/// Value of one field of the C interface; checks that a symbol is given exactly where one belongs.
Result<int64_t> requestValue(Field field, const nvfp4rt_field &given, size_t index) {
  const bool symbolic = !fieldSymbols(field).empty();
  if (!given.symbol) {
    if (!symbolic)
      return given.value;
    return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                fmt::format("request field {} ('{}'): expected one of the symbols {}, found the "
                            "integer {}",
                            index, given.name, fmt::join(fieldSymbols(field), ", "), given.value));
  }
  if (!symbolic)
    return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                fmt::format("request field {} ('{}'): expected an integer, found the symbol '{}'",
                            index, given.name, given.symbol));
  return symbolValue(field, given.symbol);
}

} // namespace

std::string_view fieldName(Field field) { return info(field).name; }

std::optional<Field> fieldByName(std::string_view name) {
  if (name.empty())
    return std::nullopt;
  const uint8_t field = kFieldAt.slots[slotOf(name, kFieldAt.seed)];
  if (field == kFieldCount || kFields[field].name != name)
    return std::nullopt;
  return static_cast<Field>(field);
}

std::string fieldNames() {
  std::string text;
  for (const FieldInfo &field : kFields) {
    text += text.empty() ? "" : ", ";
    text += field.name;
  }
  return text;
}

std::span<const std::string_view> fieldSymbols(Field field) { return info(field).symbols; }

std::string valueText(Field field, int64_t value) {
  const auto symbols = fieldSymbols(field);
  if (value >= 0 && static_cast<uint64_t>(value) < symbols.size())
    return std::string(symbols[static_cast<size_t>(value)]);
  return std::to_string(value);
}

Result<int64_t> symbolValue(Field field, std::string_view symbol) {
  const auto symbols = fieldSymbols(field);
  const auto found = std::ranges::find(symbols, symbol);
  if (found != symbols.end())
    return found - symbols.begin();
  if (symbols.empty())
    return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                fmt::format("field '{}': expected an integer, found the symbol '{}'",
                            fieldName(field), symbol));
  return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
              fmt::format("field '{}': expected one of {}, found '{}'", fieldName(field),
                          fmt::join(symbols, ", "), symbol));
}

bool Term::holds(int64_t value) const {
  switch (relation) {
  case Relation::Equal:
    return value == values[0];
  case Relation::OneOf:
    return std::ranges::binary_search(values, value);
  case Relation::Range:
    return values[0] <= value && value <= values[1];
  }
  return false;
}

std::string Term::text() const {
  switch (relation) {
  case Relation::Equal:
    return fmt::format("{} == {}", fieldName(field), joined(field, values));
  case Relation::OneOf:
    return fmt::format("{} in {{{}}}", fieldName(field), joined(field, values));
  case Relation::Range:
    return fmt::format("{} in [{}]", fieldName(field), joined(field, values));
  }
  return {};
}

const Term *Guard::find(Field field) const {
  const auto found = std::ranges::find(terms, field, &Term::field);
  return found == terms.end() ? nullptr : &*found;
}

std::string Guard::text() const {
  std::string text;
  for (const Term &term : terms)
    text += (text.empty() ? "" : ", ") + term.text();
  return text;
}

std::string Request::text() const {
  std::string text;
  for (size_t i = 0; i < kFieldCount; ++i)
    if (const std::optional<int64_t> &value = values_[i])
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", kFields[i].name,
                          valueText(static_cast<Field>(i), *value));
  return text;
}

Result<Request> makeRequest(std::span<const nvfp4rt_field> fields) {
  Request request;
  for (size_t i = 0; i < fields.size(); ++i) {
    const nvfp4rt_field &given = fields[i];
    if (!given.name)
      return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                  fmt::format("request field {}: expected a name, found NULL", i));
    const std::optional<Field> field = fieldByName(given.name);
    if (!field)
      return fail(NVFP4RT_ERROR_UNKNOWN_FIELD,
                  fmt::format("request field {}: expected one of {}, found '{}'", i, fieldNames(),
                              given.name));
    if (request.get(*field))
      return fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                  fmt::format("request field {}: '{}' is given twice", i, given.name));
    const Result<int64_t> value = requestValue(*field, given, i);
    if (!value)
      return tl::unexpected(value.error());
    request.set(*field, *value);
  }
  return request;
}

std::string Mismatch::text() const {
  if (extra && value)
    return fmt::format("{} = {} is not a field of this guard", fieldName(*extra),
                       valueText(*extra, *value));
  if (!value)
    return fmt::format("expected {}, the request has no {}", term->text(), fieldName(term->field));
  return fmt::format("expected {}, found {}", term->text(), valueText(term->field, *value));
}

std::optional<Mismatch> mismatch(const Guard &guard, const Request &request) {
  for (size_t i = 0; i < guard.terms.size(); ++i) {
    const Term &term = guard.terms[i];
    const std::optional<int64_t> value = request.get(term.field);
    if (!value || !term.holds(*value))
      return Mismatch{.passed = i, .term = &term, .extra = {}, .value = value};
  }
  for (size_t i = 0; i < kFieldCount; ++i) {
    const Field field = static_cast<Field>(i);
    const std::optional<int64_t> value = request.get(field);
    if (value && !guard.find(field))
      return Mismatch{
          .passed = guard.terms.size(), .term = nullptr, .extra = field, .value = value};
  }
  return std::nullopt;
}

} // namespace nvfp4rt
