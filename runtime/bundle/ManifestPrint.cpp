//===- ManifestPrint.cpp - manifest to TOML text ----------------------------===//
//
// The text depends on nothing but the manifest: no locale, no map order, no time.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/ManifestFields.h"

#include <fmt/format.h>

namespace nvfp4rt {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04X}", byte);
    else
      out += c;
  }
  return out + '"';
}

std::string termText(const Term &term) {
  const bool symbolic = !fieldSymbols(term.field).empty();
  std::string values;
  for (int64_t value : term.values) {
    const std::string text = valueText(term.field, value);
    values += (values.empty() ? "" : ", ") + (symbolic ? quoted(text) : text);
  }
  const std::string_view key = manifest::kRelationKeys[static_cast<size_t>(term.relation)];
  const bool scalar = term.relation == Relation::Equal;
  return fmt::format("{{ {} = {}, {} = {} }}", manifest::kTermField, quoted(fieldName(term.field)),
                     key, scalar ? values : fmt::format("[{}]", values));
}

/// Prints "key = value" lines, or the inside of an inline table.
class Printer {
public:
  explicit Printer(bool isInline = false) : isInline(isInline) {}
  const std::string &result() const { return out; }

  void text(std::string_view key, const std::string &value, manifest::TextRule) {
    pair(key, quoted(value));
  }
  template <typename T> void number(std::string_view key, T value, int64_t, int64_t) {
    pair(key, std::to_string(value));
  }
  template <typename Callback> void table(std::string_view key, Callback callback) {
    out += fmt::format("\n[{}]\n", key);
    callback(*this);
  }
  template <typename T, typename Callback>
  void entries(std::string_view key, const std::vector<T> &elements, Callback callback) {
    for (const T &element : elements) {
      out += fmt::format("\n[[{}]]\n", key);
      callback(*this, element);
    }
  }
  template <typename Callback> void inlineTable(std::string_view key, Callback callback) {
    Printer inner(true);
    callback(inner);
    pair(key, fmt::format("{{ {} }}", inner.out));
  }
  template <typename T, size_t N, typename Callback>
  void inlineArray(std::string_view key, const T (&elements)[N], Callback callback) {
    std::string items;
    for (const T &element : elements) {
      Printer inner(true);
      callback(inner, element);
      items += fmt::format("{}{{ {} }}", items.empty() ? "" : ", ", inner.out);
    }
    pair(key, fmt::format("[{}]", items));
  }
  template <size_t N>
  void numbers(std::string_view key, const uint32_t (&values)[N], int64_t, int64_t) {
    std::string items;
    for (uint32_t value : values)
      items += (items.empty() ? "" : ", ") + std::to_string(value);
    pair(key, fmt::format("[{}]", items));
  }
  void guard(std::string_view key, const Guard &guard) {
    std::string items;
    for (const Term &term : guard.terms)
      items += fmt::format("  {},\n", termText(term));
    pair(key, fmt::format("[\n{}]", items));
  }

private:
  void pair(std::string_view key, std::string_view value) {
    if (isInline)
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", key, value);
    else
      out += fmt::format("{} = {}\n", key, value);
  }

  bool isInline;
  std::string out;
};

} // namespace

std::string printManifest(const Manifest &manifest) {
  Printer printer;
  manifest::describe(printer, manifest);
  return printer.result();
}

} // namespace nvfp4rt
