//===- VopcTests.cpp - vector compares -------------------------------------===//
#include "tests/emulator/isa/VectorTable.h"

#include <deque>

namespace isatest {
namespace {

/// -1, 0, 1, or 2 when unordered.
int order(double a, double b) { return std::isnan(a) || std::isnan(b) ? 2 : (a > b) - (a < b); }

struct Condition {
  const char *name;
  bool (*holds)(int order);
};

// The n-forms are the complements, true when unordered.
const Condition FloatConditions[] = {
    {"lt", [](int o) { return o == -1; }},
    {"eq", [](int o) { return o == 0; }},
    {"le", [](int o) { return o == -1 || o == 0; }},
    {"gt", [](int o) { return o == 1; }},
    {"lg", [](int o) { return o == -1 || o == 1; }},
    {"ge", [](int o) { return o == 0 || o == 1; }},
    {"o", [](int o) { return o != 2; }},
    {"u", [](int o) { return o == 2; }},
    {"nge", [](int o) { return o == -1 || o == 2; }},
    {"nlg", [](int o) { return o == 0 || o == 2; }},
    {"ngt", [](int o) { return o != 1; }},
    {"nle", [](int o) { return o == 1 || o == 2; }},
    {"neq", [](int o) { return o != 0; }},
    {"nlt", [](int o) { return o != -1; }},
    {"f", [](int) { return false; }},
    {"tru", [](int) { return true; }},
};

const Condition IntegerConditions[] = {
    {"lt", [](int o) { return o < 0; }},  {"eq", [](int o) { return o == 0; }},
    {"le", [](int o) { return o <= 0; }}, {"gt", [](int o) { return o > 0; }},
    {"ne", [](int o) { return o != 0; }}, {"ge", [](int o) { return o >= 0; }},
    {"f", [](int) { return false; }},     {"t", [](int) { return true; }},
};

struct Kind {
  const char *suffix;
  Type type;
  unsigned forms;
  int (*compare)(const Lane &l);
};

template <typename T> int compareAs(const Lane &l) {
  const T a = T(l.a), b = T(l.b);
  return (a > b) - (a < b);
}

const Kind FloatKinds[] = {
    {"f16", Type::F16, E32 | E64 | SDWA | NEG,
     [](const Lane &l) { return order(double(f16(l.a)), double(f16(l.b))); }},
    {"f32", Type::F32, E32 | E64 | SDWA | NEG,
     [](const Lane &l) { return order(asF32(l.a), asF32(l.b)); }},
    {"f64", Type::F64, E32 | E64 | NEG,
     [](const Lane &l) { return order(asF64(l.a), asF64(l.b)); }},
};

const Kind IntegerKinds[] = {
    {"i16", Type::B16, E32 | E64 | SDWA, compareAs<int16_t>},
    {"u16", Type::B16, E32 | E64 | SDWA, compareAs<uint16_t>},
    {"i32", Type::B32, E32 | E64 | SDWA, compareAs<int32_t>},
    {"u32", Type::B32, E32 | E64 | SDWA, compareAs<uint32_t>},
    {"i64", Type::B64, E32 | E64, compareAs<int64_t>},
    {"u64", Type::B64, E32 | E64, compareAs<uint64_t>},
};

uint64_t classBit(bool negative, bool nan, bool quiet, bool infinite, bool normal, bool zero) {
  if (nan)
    return quiet ? 1 : 0;
  if (infinite)
    return negative ? 2 : 9;
  if (normal)
    return negative ? 3 : 8;
  if (zero)
    return negative ? 5 : 6;
  return negative ? 4 : 7;
}

const std::vector<Row> ClassRows{
    {"v_cmp_class_f32",
     Type::F32,
     {Type::F32, Type::B32},
     E32 | E64 | MASKOUT | NODST | NEG,
     [](Lane &l) {
       const float x = asF32(l.a);
       l.mask = l.b >> classBit(l.a >> 31 & 1, isNan32(l.a), !isSignalling32(l.a), std::isinf(x),
                                std::isnormal(x), x == 0) &
                1;
       return 0;
     }},
    {"v_cmp_class_f64",
     Type::F64,
     {Type::F64, Type::B32},
     E32 | E64 | MASKOUT | NODST | NEG,
     [](Lane &l) {
       const double x = asF64(l.a);
       l.mask = l.b >> classBit(l.a >> 63, std::isnan(x), l.a >> 51 & 1, std::isinf(x),
                                std::isnormal(x), x == 0) &
                1;
       return 0;
     }},
    {"v_cmp_class_f16",
     Type::F16,
     {Type::F16, Type::B32},
     E32 | E64 | MASKOUT | NODST | NEG,
     [](Lane &l) {
       const uint32_t magnitude = l.a & 0x7fff;
       l.mask = l.b >> classBit(l.a >> 15 & 1, isNan16(l.a), !isSignalling16(l.a),
                                magnitude == 0x7c00, magnitude >= 0x400, magnitude == 0) &
                1;
       return 0;
     }},
};

const SuiteRegistrar registrar("Vopc", [](Suite &suite) {
  static std::deque<std::string> names; // rows keep pointers
  std::vector<Row> rows;
  auto add = [&](const Condition &condition, const Kind &kind) {
    for (bool writesExec : {false, true}) {
      names.push_back(std::string(writesExec ? "v_cmpx_" : "v_cmp_") + condition.name + "_" +
                      kind.suffix);
      rows.push_back({names.back().c_str(),
                      kind.type,
                      {kind.type, kind.type},
                      kind.forms | MASKOUT | NODST | (writesExec ? unsigned(EXECOUT) : 0),
                      [compare = kind.compare, holds = condition.holds](Lane &l) {
                        l.mask = holds(compare(l));
                        return uint64_t(0);
                      }});
    }
  };
  for (const Kind &kind : FloatKinds)
    for (const Condition &condition : FloatConditions)
      add(condition, kind);
  for (const Kind &kind : IntegerKinds)
    for (const Condition &condition : IntegerConditions)
      add(condition, kind);
  addRows(suite, rows);
  addRows(suite, ClassRows);
});

} // namespace
} // namespace isatest
