//===- ManifestParse.cpp - TOML text to manifest ----------------------------===//
//
// Reads the text with toml++, checks keys, types and ranges on the way, then the
// rules that tie kernels and variants together. Stops at the first error.
//
//===------------------------------------------------------------------------===//
#include "runtime/args/ArgLayout.h"
#include "runtime/bundle/ManifestFields.h"
#include "runtime/bundle/ManifestRules.h"
#include "runtime/support/Toml.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nvfp4rt {
namespace {

using manifest::Position;

Position positionOf(const toml::node &node) {
  return {node.source().begin.line, node.source().begin.column};
}

std::string typeName(const toml::node &node) {
  switch (node.type()) {
  case toml::node_type::table:
    return "a table";
  case toml::node_type::array:
    return "an array";
  case toml::node_type::string:
    return "a string";
  case toml::node_type::integer:
    return "an integer";
  case toml::node_type::floating_point:
    return "a float";
  case toml::node_type::boolean:
    return "a boolean";
  default:
    return "a date or time";
  }
}

bool isSha256(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// The archive that fills a manifest from one table of the parsed text; see ManifestFields.h.
/// After the first error every call does nothing.
class Reader {
public:
  Reader(const toml::table &table, std::string path, std::optional<Error> &error)
      : node(table), path(std::move(path)), error(error) {}

  void text(std::string_view key, std::string &value, manifest::TextRule rule) {
    const toml::node *found = find(key);
    if (!found)
      return;
    const toml::value<std::string> *string = found->as_string();
    if (!string)
      return reject(*found, key, "a string", typeName(*found));
    value = string->get();
    if (value.find('\0') != std::string::npos)
      return reject(*found, key, "a string without NUL characters", "one with a NUL");
    if (rule == manifest::TextRule::NonEmpty && value.empty())
      return reject(*found, key, "a non-empty string", "\"\"");
    if (rule == manifest::TextRule::Sha256 && !isSha256(value))
      return reject(*found, key, "64 lower-case hex digits", fmt::format("\"{}\"", value));
  }

  template <typename T> void number(std::string_view key, T &value, int64_t min, int64_t max) {
    if (const toml::node *found = find(key))
      if (const std::optional<int64_t> read = integer(*found, key, min, max))
        value = static_cast<T>(*read);
  }

  template <typename Callback> void table(std::string_view key, Callback callback) {
    if (const toml::node *found = find(key))
      descend(*found, key, callback);
  }

  template <typename Callback> void inlineTable(std::string_view key, Callback callback) {
    table(key, callback);
  }

  template <typename T, typename Callback>
  void entries(std::string_view key, std::vector<T> &elements, Callback callback) {
    const toml::array *found = array(key, std::nullopt);
    if (!found)
      return;
    if (found->empty() || found->size() > manifest::kMaxEntries)
      return reject(*found, key, fmt::format("1 to {} entries", manifest::kMaxEntries),
                    std::to_string(found->size()));
    for (size_t i = 0; i < found->size() && !error; ++i)
      descend((*found)[i], fmt::format("{}[{}]", key, i),
              [&](Reader &inner) { callback(inner, elements.emplace_back()); });
  }

  template <typename T, size_t N, typename Callback>
  void inlineArray(std::string_view key, T (&elements)[N], Callback callback) {
    const toml::array *found = array(key, N);
    for (size_t i = 0; found && i < N && !error; ++i)
      descend((*found)[i], fmt::format("{}[{}]", key, i),
              [&](Reader &inner) { callback(inner, elements[i]); });
  }

  template <size_t N>
  void numbers(std::string_view key, uint32_t (&values)[N], int64_t min, int64_t max) {
    const toml::array *found = array(key, N);
    for (size_t i = 0; found && i < N && !error; ++i)
      if (const auto read = integer((*found)[i], fmt::format("{}[{}]", key, i), min, max))
        values[i] = static_cast<uint32_t>(*read);
  }

  void guard(std::string_view key, Guard &guard) {
    const toml::array *found = array(key, std::nullopt);
    for (size_t i = 0; found && i < found->size() && !error; ++i)
      descend((*found)[i], fmt::format("{}[{}]", key, i),
              [&](Reader &inner) { inner.term(guard); });
  }

  /// Every key of the table must have been asked for.
  void finish() {
    for (const auto &[key, value] : node) {
      if (error)
        return;
      if (std::ranges::find(known, key.str()) == known.end())
        reject(value, key.str(), fmt::format("one of the keys {}", fmt::join(known, ", ")),
               "an unknown key");
    }
  }

private:
  void reject(const toml::node &at, std::string_view key, std::string_view expected,
              std::string_view found) {
    if (!error)
      error = manifest::badManifest(
          positionOf(at), path.empty() ? std::string(key) : fmt::format("{}.{}", path, key),
          expected, found);
  }

  const toml::node *find(std::string_view key) {
    known.push_back(key);
    if (error)
      return nullptr;
    const toml::node *found = node.get(key);
    if (!found)
      reject(node, key, "this key", "none");
    return found;
  }

  const toml::array *array(std::string_view key, std::optional<size_t> size) {
    const toml::node *found = find(key);
    if (!found)
      return nullptr;
    const toml::array *elements = found->as_array();
    if (!elements)
      reject(*found, key, "an array", typeName(*found));
    else if (size && elements->size() != *size)
      reject(*found, key, fmt::format("{} elements", *size), std::to_string(elements->size()));
    return error ? nullptr : elements;
  }

  std::optional<int64_t> integer(const toml::node &at, std::string_view key, int64_t min,
                                 int64_t max) {
    const toml::value<int64_t> *value = at.as_integer();
    if (!value) {
      reject(at, key, "an integer", typeName(at));
      return std::nullopt;
    }
    if (value->get() < min || value->get() > max) {
      reject(at, key, fmt::format("an integer in [{}, {}]", min, max),
             std::to_string(value->get()));
      return std::nullopt;
    }
    return value->get();
  }

  template <typename Callback>
  void descend(const toml::node &at, std::string_view key, Callback callback) {
    const toml::table *inner = at.as_table();
    if (!inner)
      return reject(at, key, "a table", typeName(at));
    Reader reader(*inner, path.empty() ? std::string(key) : fmt::format("{}.{}", path, key), error);
    callback(reader);
    reader.finish();
  }

  std::optional<int64_t> termValue(Field field, const toml::node &at, std::string_view key) {
    if (fieldSymbols(field).empty())
      return integer(at, key, std::numeric_limits<int64_t>::min(), manifest::kMaxI64);
    const toml::value<std::string> *symbol = at.as_string();
    if (!symbol) {
      reject(at, key, fmt::format("a symbol of '{}'", fieldName(field)), typeName(at));
      return std::nullopt;
    }
    const Result<int64_t> value = symbolValue(field, symbol->get());
    if (!value) {
      reject(at, key, fmt::format("one of {}", fmt::join(fieldSymbols(field), ", ")),
             fmt::format("\"{}\"", symbol->get()));
      return std::nullopt;
    }
    return *value;
  }

  /// This table is one term of `guard`.
  void term(Guard &guard) {
    std::string name;
    text(manifest::kTermField, name, manifest::TextRule::NonEmpty);
    if (error)
      return;
    const std::optional<Field> field = fieldByName(name);
    if (!field)
      return reject(node, manifest::kTermField, "a field this runtime knows",
                    fmt::format("\"{}\"", name));
    if (guard.find(*field))
      return reject(node, manifest::kTermField, "at most one term a field",
                    fmt::format("a second one for \"{}\"", name));
    for (size_t i = 0; i < std::size(manifest::kRelationKeys); ++i)
      if (node.contains(manifest::kRelationKeys[i]))
        return relation(guard, *field, static_cast<Relation>(i));
    reject(node, fieldName(*field),
           fmt::format("one of the keys {}", fmt::join(manifest::kRelationKeys, ", ")), "none");
  }

  void relation(Guard &guard, Field field, Relation relation) {
    const std::string_view key = manifest::kRelationKeys[static_cast<size_t>(relation)];
    Term term{field, relation, {}};
    const toml::node *found = find(key);
    if (relation == Relation::Equal) {
      if (const std::optional<int64_t> value = termValue(field, *found, key))
        term.values = {*value};
    } else {
      const toml::array *elements = found->as_array();
      if (!elements)
        return reject(*found, key, "an array", typeName(*found));
      for (size_t i = 0; i < elements->size() && !error; ++i)
        if (const auto value = termValue(field, (*elements)[i], fmt::format("{}[{}]", key, i)))
          term.values.push_back(*value);
    }
    if (error)
      return;
    if (relation == Relation::Range && (term.values.size() != 2 || term.values[0] > term.values[1]))
      return reject(*found, key, "[low, high] with low <= high", fmt::format("{}", term.values));
    // Strictly ascending, so sorted and unique.
    if (relation == Relation::OneOf &&
        (term.values.empty() ||
         std::ranges::adjacent_find(term.values, std::greater_equal<>()) != term.values.end()))
      return reject(*found, key, "a non-empty ascending list without duplicates",
                    fmt::format("{}", term.values));
    guard.terms.push_back(std::move(term));
  }

  const toml::table &node;
  std::string path; ///< e.g. "variant[3].guard[0]"; empty at the top
  std::optional<Error> &error;
  std::vector<std::string_view> known;
};

/// Positions of the [[key]] entries, for messages of the rules that tie entries together.
std::vector<Position> entryPositions(const toml::table &root, std::string_view key) {
  std::vector<Position> positions;
  for (const toml::node &entry : *root.get_as<toml::array>(key))
    positions.push_back(positionOf(entry));
  return positions;
}

/// The format number decides what the rest means, so it is looked at before anything else.
std::optional<Error> checkFormat(const toml::table &root) {
  const toml::node *format = root.get("format");
  const toml::value<int64_t> *value = format ? format->as_integer() : nullptr;
  if (!value || value->get() == kBundleFormat)
    return std::nullopt; // absent or mistyped: reported with all other keys
  return Error{NVFP4RT_ERROR_VERSION,
               fmt::format("manifest:{}:{}: format: expected {}, found {}",
                           format->source().begin.line, format->source().begin.column,
                           kBundleFormat, value->get())};
}

} // namespace

Result<Manifest> parseManifest(std::string_view text) {
  if (std::optional<Error> error = manifest::checkText(text))
    return tl::unexpected(std::move(*error));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::source_position at = parsed.error().source().begin;
    return tl::unexpected(
        manifest::badManifest({at.line, at.column}, "text", "TOML", parsed.error().description()));
  }
  const toml::table &root = parsed.table();
  if (std::optional<Error> error = checkFormat(root))
    return tl::unexpected(std::move(*error));

  Manifest result;
  std::optional<Error> error;
  Reader reader(root, {}, error);
  manifest::describe(reader, result);
  reader.finish();
  if (!error)
    error = manifest::checkRules(result, {.kernels = entryPositions(root, "kernel"),
                                          .variants = entryPositions(root, "variant")});
  if (error)
    return tl::unexpected(std::move(*error));
  return result;
}

} // namespace nvfp4rt
