//===- Index.cpp - finds the variant of a request in constant time ----------===//
//
// See Index.h.
//
//===------------------------------------------------------------------------===//
#include "runtime/plan/Index.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

namespace nvfp4rt {
namespace {

constexpr size_t kBits = 64;

/// Values at which a term begins or ends to hold.
void addStarts(const Term &term, std::vector<int64_t> &starts) {
  const auto add = [&](int64_t low, int64_t high) {
    starts.push_back(low);
    if (high < std::numeric_limits<int64_t>::max())
      starts.push_back(high + 1);
  };
  if (term.relation == Relation::Range)
    return add(term.values[0], term.values[1]);
  for (int64_t value : term.values)
    add(value, value);
}

} // namespace

FamilyIndex::FamilyIndex(std::string family, const std::vector<Variant> &variants,
                         std::vector<uint32_t> members)
    : family_(std::move(family)), members_(std::move(members)),
      words_((members_.size() + kBits - 1) / kBits) {
  axisOf_.fill(kNoAxis);
  for (size_t f = 0; f < kFieldCount; ++f) {
    const auto field = static_cast<Field>(f);
    Axis axis{field, {std::numeric_limits<int64_t>::min()}, {}};
    bool known = false;
    for (uint32_t member : members_)
      if (const Term *term = variants[member].guard.find(field)) {
        addStarts(*term, axis.starts);
        known = true;
      }
    if (!known)
      continue;
    std::ranges::sort(axis.starts);
    const auto repeated = std::ranges::unique(axis.starts);
    axis.starts.erase(repeated.begin(), repeated.end());
    axis.sets.resize((axis.starts.size() + 1) * words_);
    for (size_t bit = 0; bit < members_.size(); ++bit) {
      const uint64_t mask = uint64_t{1} << (bit % kBits);
      uint64_t *word = axis.sets.data() + bit / kBits;
      const Term *term = variants[members_[bit]].guard.find(field);
      if (!term)
        *word |= mask;
      else
        for (size_t i = 0; i < axis.starts.size(); ++i)
          if (term->holds(axis.starts[i]))
            word[(i + 1) * words_] |= mask;
    }
    axisOf_[f] = static_cast<uint8_t>(axes_.size());
    axes_.push_back(std::move(axis));
  }
}

const uint64_t *FamilyIndex::setOf(const Axis &axis, std::optional<int64_t> value) const {
  if (!value)
    return axis.sets.data();
  // The first start is the least value, so at least one is not above it.
  const auto above = std::ranges::upper_bound(axis.starts, *value);
  return axis.sets.data() + static_cast<size_t>(above - axis.starts.begin()) * words_;
}

uint32_t FamilyIndex::first(const uint64_t *const *sets, size_t count) const {
  for (size_t word = 0; word < words_; ++word) {
    uint64_t all = ~uint64_t{0};
    for (size_t i = 0; i < count; ++i)
      all &= sets[i][word];
    // Bits past the last variant are in no set; a family without fields has one variant.
    if (all != 0)
      return members_[word * kBits + static_cast<size_t>(std::countr_zero(all))];
  }
  return kNone;
}

uint32_t FamilyIndex::find(const Request &request) const {
  const uint64_t *sets[kFieldCount];
  size_t count = 0;
  for (size_t f = 0; f < kFieldCount; ++f) {
    const std::optional<int64_t> value = request.get(static_cast<Field>(f));
    if (axisOf_[f] != kNoAxis)
      sets[count++] = setOf(axes_[axisOf_[f]], value);
    else if (value)
      return kNone; // a field that no guard has is never ignored
  }
  return first(sets, count);
}

FamilyIndex::Narrowed FamilyIndex::narrow(const Request &request,
                                          std::vector<Field> varying) const {
  Narrowed narrowed{std::vector<uint64_t>(words_, ~uint64_t{0}), std::move(varying)};
  for (const Axis &axis : axes_) {
    if (std::ranges::find(narrowed.varying, axis.field) != narrowed.varying.end())
      continue;
    const uint64_t *set = setOf(axis, request.get(axis.field));
    for (size_t word = 0; word < words_; ++word)
      narrowed.set[word] &= set[word];
  }
  return narrowed;
}

uint32_t FamilyIndex::find(const Narrowed &narrowed, const int64_t *values) const {
  const uint64_t *sets[kFieldCount + 1];
  size_t count = 0;
  sets[count++] = narrowed.set.data();
  for (size_t i = 0; i < narrowed.varying.size(); ++i)
    sets[count++] = setOf(axes_[axisOf_[static_cast<size_t>(narrowed.varying[i])]], values[i]);
  return first(sets, count);
}

Index::Index(const std::vector<Variant> &variants) {
  std::map<std::string_view, std::vector<uint32_t>> members;
  for (size_t i = 0; i < variants.size(); ++i)
    members[variants[i].family].push_back(static_cast<uint32_t>(i));
  for (auto &[name, list] : members)
    families_.emplace_back(std::string(name), variants, std::move(list));
}

const FamilyIndex *Index::family(std::string_view name) const {
  const auto found = std::ranges::find(families_, name, &FamilyIndex::family);
  return found == families_.end() ? nullptr : &*found;
}

} // namespace nvfp4rt
