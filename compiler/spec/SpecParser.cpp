//===- SpecParser.cpp - from TOML text to a validated Spec ------------------===//
//
// Walks the field table over the parsed TOML, collects every fault with its
// position, then runs the cross rules whose fields are valid.
//
//===------------------------------------------------------------------------===//
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/SpecRules.h"
#include "runtime/support/Toml.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cfloat>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tuple>

namespace nvfp4gen {
namespace {

using namespace nvfp4gen::spec;

/// Dots of one line outside comments. They nest tables, and the TOML library recurses over nested
/// tables without a bound of its own.
constexpr size_t kMaxDotsPerLine = 16;

template <typename... Functions> struct Overloaded : Functions... {
  using Functions::operator()...;
};

/// Text from the file as it may be shown on a terminal: escaped, and cut when long.
std::string printable(std::string_view text, size_t limit = 60) {
  std::string shown;
  llvm::raw_string_ostream os(shown);
  os.write_escaped(llvm::StringRef(text).take_front(limit), /*UseHexEscapes=*/true);
  if (text.size() > limit)
    os << "...";
  return shown;
}

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", printable(text)); }

/// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string> &words) {
  if (words.size() == 1)
    return words.front();
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string symbolList(std::span<const std::string_view> symbols) {
  std::vector<std::string> words;
  for (std::string_view symbol : symbols)
    words.push_back(quoted(symbol));
  return alternatives(words);
}

std::string integerList(std::span<const int64_t> values) {
  std::vector<std::string> words;
  for (int64_t value : values)
    words.push_back(std::to_string(value));
  return alternatives(words);
}

std::string integerRange(int64_t min, int64_t max) {
  return fmt::format("integer in [{}, {}]", min, max);
}

std::string symbolSetElement(const SymbolSetType &type) {
  return "string " + symbolList(type.known);
}

/// What a field wants, as it stands after "expected".
std::string expectation(const FieldType &type) {
  return std::visit(
      Overloaded{[](const IntegerType &type) {
                   std::string text = integerRange(type.min, type.max);
                   return type.multipleOf == 1
                              ? text
                              : fmt::format("{}, multiple of {}", text, type.multipleOf);
                 },
                 [](const SupportedIntegerType &type) {
                   return fmt::format("integer {} ({})", integerList(type.supported), type.reason);
                 },
                 [](const NumberType &) {
                   return fmt::format("number in [{}, {}] (positive normal fp32)", FLT_MIN,
                                      FLT_MAX);
                 },
                 [](const IdentifierType &type) {
                   return fmt::format("string of 1 to {} of [a-z0-9_]", type.maxLength);
                 },
                 [](const SymbolType &type) {
                   return "string " + symbolList(type.known.first(type.supported));
                 },
                 [](const IntegerListType &type) {
                   return fmt::format("array of {} to {} ascending integers in [{}, {}]",
                                      type.minCount, type.maxCount, type.min, type.max);
                 },
                 [](const SymbolSetType &type) {
                   return fmt::format("array of 1 to {} different strings out of {}",
                                      type.known.size(), symbolList(type.known));
                 }},
      type);
}

/// Type and value of a node, as they stand after "found".
std::string description(const toml::node &node) {
  switch (node.type()) {
  case toml::node_type::table:
    return "table";
  case toml::node_type::array:
    return fmt::format("array of {}", node.as_array()->size());
  case toml::node_type::string:
    return "string " + quoted(node.as_string()->get());
  case toml::node_type::integer:
    return fmt::format("integer {}", node.as_integer()->get());
  case toml::node_type::floating_point:
    return fmt::format("float {}", node.as_floating_point()->get());
  case toml::node_type::boolean:
    return fmt::format("boolean {}", node.as_boolean()->get());
  case toml::node_type::date:
    return "date";
  case toml::node_type::time:
    return "time";
  case toml::node_type::date_time:
    return "date-time";
  case toml::node_type::none:
    break;
  }
  return "nothing";
}

std::string fieldName(Table table, std::string_view key) {
  std::string_view name = kTableNames[static_cast<size_t>(table)];
  return name.empty() ? printable(key) : fmt::format("{}.{}", name, printable(key));
}

class Parser {
public:
  Parser(llvm::StringRef text, llvm::StringRef path) : text(text), path(path) {}

  llvm::Expected<Spec> run();

private:
  void report(toml::source_position position, std::string message) {
    SpecDiagnostic diagnostic;
    diagnostic.path = path.str();
    diagnostic.line = position.line;
    diagnostic.column = position.column;
    diagnostic.message = std::move(message);
    diagnostics.push_back(std::move(diagnostic));
  }
  void report(const toml::node &node, std::string_view name, std::string_view expected) {
    report(node.source().begin,
           fmt::format("{}: expected {}, found {}", name, expected, description(node)));
  }

  llvm::Error takeErrors();
  bool nestingIsBounded();
  void readTable(const toml::table &root, Table table);
  void readUnknownKeys(const toml::table &content, Table table);
  void readField(const toml::table &content, size_t index);

  // Each stores the value and returns true, or reports and returns false.
  bool read(const toml::node &node, const std::string &name, const IntegerType &type);
  bool read(const toml::node &node, const std::string &name, const SupportedIntegerType &type);
  bool read(const toml::node &node, const std::string &name, const NumberType &type);
  bool read(const toml::node &node, const std::string &name, const IdentifierType &type);
  bool read(const toml::node &node, const std::string &name, const SymbolType &type);
  bool read(const toml::node &node, const std::string &name, const IntegerListType &type);
  bool read(const toml::node &node, const std::string &name, const SymbolSetType &type);

  llvm::StringRef text;
  llvm::StringRef path;
  Spec spec;
  FieldSet valid = 0;
  toml::source_position positions[std::size(kFields)] = {};
  std::vector<SpecDiagnostic> diagnostics;
};

llvm::Error Parser::takeErrors() {
  llvm::sort(diagnostics, [](const SpecDiagnostic &a, const SpecDiagnostic &b) {
    return std::tie(a.line, a.column, a.message) < std::tie(b.line, b.column, b.message);
  });
  return llvm::make_error<SpecError>(std::move(diagnostics));
}

bool Parser::nestingIsBounded() {
  // Split at everything that any reader takes for a line break: a shorter line has fewer dots, and
  // none of these characters may stand inside a key.
  for (llvm::StringRef rest = text; !rest.empty();) {
    size_t end = rest.find_first_of("\n\r\v\f");
    llvm::StringRef content = rest.take_front(end);
    size_t dots = content.ltrim(" \t").starts_with("#") ? 0 : content.count('.');
    if (dots > kMaxDotsPerLine) {
      unsigned fileLine = 1 + text.take_front(content.data() - text.data()).count('\n');
      report({fileLine, 1}, fmt::format("expected at most {} dots in a line (they nest tables), "
                                        "found {}",
                                        kMaxDotsPerLine, dots));
      return false;
    }
    rest = end == llvm::StringRef::npos ? llvm::StringRef() : rest.drop_front(end + 1);
  }
  return true;
}

bool Parser::read(const toml::node &node, const std::string &name, const IntegerType &type) {
  const auto *integer = node.as_integer();
  if (!integer || integer->get() < type.min || integer->get() > type.max ||
      integer->get() % type.multipleOf != 0) {
    report(node, name, expectation(type));
    return false;
  }
  type.store(spec, integer->get());
  return true;
}

bool Parser::read(const toml::node &node, const std::string &name,
                  const SupportedIntegerType &type) {
  const auto *integer = node.as_integer();
  if (!integer || !llvm::is_contained(type.supported, integer->get())) {
    report(node, name, expectation(type));
    return false;
  }
  type.store(spec, integer->get());
  return true;
}

bool Parser::read(const toml::node &node, const std::string &name, const NumberType &type) {
  double value = 0;
  if (const auto *number = node.as_floating_point())
    value = number->get();
  else if (const auto *integer = node.as_integer())
    value = static_cast<double>(integer->get());
  if (!(value >= FLT_MIN && value <= FLT_MAX)) { // false for NaN as well
    report(node, name, expectation(type));
    return false;
  }
  type.store(spec, value);
  return true;
}

bool Parser::read(const toml::node &node, const std::string &name, const IdentifierType &type) {
  const auto *string = node.as_string();
  auto isAllowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (!string || string->get().empty() || string->get().size() > type.maxLength ||
      !llvm::all_of(string->get(), isAllowed)) {
    report(node, name, expectation(type));
    return false;
  }
  type.store(spec, string->get());
  return true;
}

bool Parser::read(const toml::node &node, const std::string &name, const SymbolType &type) {
  const auto *string = node.as_string();
  auto symbol = string ? llvm::find(type.known, string->get()) : type.known.end();
  size_t position = symbol - type.known.begin();
  if (position < type.supported) {
    type.store(spec, static_cast<int64_t>(position));
    return true;
  }
  if (symbol == type.known.end())
    report(node, name, expectation(type));
  else
    report(node.source().begin,
           fmt::format("{}: expected {}, found {} ({}; known: {})", name, expectation(type),
                       description(node), type.reason, symbolList(type.known)));
  return false;
}

bool Parser::read(const toml::node &node, const std::string &name, const IntegerListType &type) {
  const toml::array *array = node.as_array();
  if (!array || array->size() < type.minCount || array->size() > type.maxCount) {
    report(node, name, expectation(type));
    return false;
  }
  size_t faults = diagnostics.size();
  std::vector<int64_t> values;
  for (size_t i = 0; i < array->size(); ++i) {
    const toml::node &element = *array->get(i);
    std::string elementName = fmt::format("{}[{}]", name, i);
    const auto *integer = element.as_integer();
    if (!integer || integer->get() < type.min || integer->get() > type.max)
      report(element, elementName, integerRange(type.min, type.max));
    else if (!values.empty() && integer->get() <= values.back())
      report(element, elementName, fmt::format("integer above {} (sorted, unique)", values.back()));
    else
      values.push_back(integer->get());
  }
  if (diagnostics.size() != faults)
    return false;
  type.store(spec, values);
  return true;
}

bool Parser::read(const toml::node &node, const std::string &name, const SymbolSetType &type) {
  const toml::array *array = node.as_array();
  if (!array || array->empty()) {
    report(node, name, expectation(type));
    return false;
  }
  size_t faults = diagnostics.size();
  std::vector<int64_t> values;
  for (size_t i = 0; i < array->size(); ++i) {
    const toml::node &element = *array->get(i);
    std::string elementName = fmt::format("{}[{}]", name, i);
    const auto *string = element.as_string();
    auto symbol = string ? llvm::find(type.known, string->get()) : type.known.end();
    if (symbol == type.known.end())
      report(element, elementName, symbolSetElement(type));
    else if (llvm::is_contained(values, symbol - type.known.begin()))
      report(element, elementName, "each string once");
    else
      values.push_back(symbol - type.known.begin());
  }
  if (diagnostics.size() != faults)
    return false;
  llvm::sort(values);
  type.store(spec, values);
  return true;
}

void Parser::readField(const toml::table &content, size_t index) {
  const FieldRow &row = kFields[index];
  std::string name = fieldName(row.table, row.key);
  const toml::node *node = content.get(row.key);
  positions[index] = (node ? *node : content).source().begin;
  bool stored = false;
  if (node) {
    stored = std::visit([&](const auto &type) { return read(*node, name, type); }, row.type);
  } else if (row.whenAbsent) {
    row.whenAbsent(spec);
    stored = true;
  } else {
    report(positions[index], fmt::format("{}: expected {}, found nothing ({})", name,
                                         expectation(row.type), row.doc));
  }
  if (stored)
    valid |= FieldSet{1} << index;
}

/// The known key that an unknown one most likely stands for, as the user would write it; empty when
/// nothing is near. A key of this table goes before the same distance in another one.
std::string nearestKey(llvm::StringRef unknown, Table table) {
  unsigned best = std::max<unsigned>(1, unknown.size() / 3) + 1;
  std::string nearest;
  auto consider = [&](llvm::StringRef candidate, std::string shown) {
    if (candidate.size() + best < unknown.size()) // spares a quadratic walk over a huge key
      return;
    unsigned distance = unknown.edit_distance(candidate, /*AllowReplacements=*/true, best);
    if (distance < best) {
      best = distance;
      nearest = std::move(shown);
    }
  };
  for (const FieldRow &row : kFields)
    if (row.table == table)
      consider(row.key, std::string(row.key));
  if (table == Table::Root)
    for (std::string_view name : llvm::drop_begin(kTableNames))
      consider(name, std::string(name));
  for (const FieldRow &row : kFields)
    if (row.table != table)
      consider(row.key, fieldName(row.table, row.key));
  return nearest;
}

void Parser::readUnknownKeys(const toml::table &content, Table table) {
  for (auto &&[key, node] : content) {
    bool known = llvm::any_of(
        kFields, [&](const FieldRow &row) { return row.table == table && row.key == key.str(); });
    if (table == Table::Root)
      known |= llvm::is_contained(llvm::drop_begin(kTableNames), key.str());
    if (known)
      continue;
    std::string nearest = nearestKey(key.str(), table);
    report(key.source().begin,
           fmt::format("{}: unknown key{}", fieldName(table, key.str()),
                       nearest.empty() ? "" : fmt::format(", did you mean \"{}\"?", nearest)));
  }
}

void Parser::readTable(const toml::table &root, Table table) {
  std::string_view name = kTableNames[static_cast<size_t>(table)];
  const toml::table *content = &root;
  if (table != Table::Root) {
    const toml::node *node = root.get(name);
    if (!node) {
      report(root.source().begin, fmt::format("{}: expected table, found nothing", name));
      return;
    }
    content = node->as_table();
    if (!content) {
      report(*node, name, "table");
      return;
    }
  }
  readUnknownKeys(*content, table);
  for (size_t i = 0; i < std::size(kFields); ++i)
    if (kFields[i].table == table)
      readField(*content, i);
}

llvm::Expected<Spec> Parser::run() {
  if (text.size() > kMaxSpecBytes) {
    report({0, 0},
           fmt::format("expected at most {} bytes, found {} bytes", kMaxSpecBytes, text.size()));
    return takeErrors();
  }
  if (!nestingIsBounded())
    return takeErrors();

  toml::parse_result parsed = toml::parse(std::string_view(text));
  if (!parsed) {
    report(parsed.error().source().begin,
           fmt::format("TOML: {}", printable(parsed.error().description(), 300)));
    return takeErrors();
  }
  for (size_t table = 0; table < std::size(kTableNames); ++table)
    readTable(parsed.table(), static_cast<Table>(table));

  for (const Rule &rule : rules()) {
    if ((rule.reads & ~valid) != 0)
      continue;
    if (std::optional<std::string> violation = rule.violation(spec))
      report(positions[rule.at],
             fmt::format("{}: {}", fieldName(kFields[rule.at].table, kFields[rule.at].key),
                         *violation));
  }
  if (!diagnostics.empty())
    return takeErrors();

  std::array<uint8_t, 32> digest =
      llvm::SHA256::hash(llvm::ArrayRef(text.bytes_begin(), text.size()));
  spec.sha256 = llvm::toHex(digest, /*LowerCase=*/true);
  return std::move(spec);
}

} // namespace

llvm::Expected<Spec> parseSpec(llvm::StringRef text, llvm::StringRef path) {
  return Parser(text, path).run();
}

} // namespace nvfp4gen
