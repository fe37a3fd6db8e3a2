// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Counting, and the table.
#include "sim/cosim/coverage.hpp"

#include <algorithm>
#include <cstdio>

namespace hcasim::sim::cosim {
namespace {

std::size_t length(const CoverGroupForm& form, std::size_t list) {
  return std::max<std::size_t>(1, form.labels[list].size());
}

std::size_t length(const CoverGroupForm& form) {
  return length(form, 0) * length(form, 1) * length(form, 2);
}

struct Place {
  unsigned first, second, third;
};

Place place_of(const CoverGroupForm& form, std::size_t index) {
  const std::size_t third = length(form, 2);
  const std::size_t second = length(form, 1);
  return {static_cast<unsigned>(index / third / second),
          static_cast<unsigned>(index / third % second), static_cast<unsigned>(index % third)};
}

std::string name_of(const CoverGroupForm& form, const Place& place) {
  std::string name(form.name);
  const unsigned at[] = {place.first, place.second, place.third};
  for (std::size_t list = 0; list < 3; ++list) {
    if (form.labels[list].empty()) continue;
    name += '.';
    name += form.labels[list][at[list]];
  }
  return name;
}

}  // namespace

Coverage::Coverage() {
  std::size_t sum = 0;
  for (const CoverGroupForm& form : cover_groups()) {
    begin_.push_back(sum);
    sum += length(form);
  }
  hits_.resize(sum);
}

std::size_t Coverage::index_in(CoverGroup group, unsigned first, unsigned second, unsigned third) {
  const CoverGroupForm& form = cover_groups()[static_cast<std::size_t>(group)];
  return (first * length(form, 1) + second) * length(form, 2) + third;
}

void Coverage::add(const Coverage& other) {
  for (std::size_t i = 0; i < hits_.size(); ++i) hits_[i] += other.hits_[i];
}

std::vector<Coverage::Point> Coverage::collect(bool possible) const {
  std::vector<Point> all;
  for (std::size_t group = 0; group < kCoverGroups; ++group) {
    const CoverGroupForm& form = cover_groups()[group];
    for (std::size_t i = 0; i < length(form); ++i) {
      const Place at = place_of(form, i);
      const bool can = form.possible == nullptr || form.possible(at.first, at.second, at.third);
      if (can == possible) all.push_back({name_of(form, at), hits_[begin_[group] + i]});
    }
  }
  return all;
}

std::vector<Coverage::Point> Coverage::points() const {
  return collect(true);
}

std::vector<Coverage::Point> Coverage::impossible_hits() const {
  std::vector<Point> found = collect(false);
  std::erase_if(found, [](const Point& point) { return point.hits == 0; });
  return found;
}

std::size_t Coverage::holes() const {
  const std::vector<Point> all = points();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Point& point) { return point.hits == 0; }));
}

double Coverage::percent() const {
  const auto all = static_cast<double>(points().size());
  return 100.0 * (all - static_cast<double>(holes())) / all;
}

std::string Coverage::table() const {
  std::vector<Point> all = points();
  std::stable_sort(all.begin(), all.end(),
                   [](const Point& a, const Point& b) { return a.hits < b.hits; });
  char line[128];
  std::snprintf(line, sizeof line, "functional coverage: %zu of %zu points, %.1f %%\n",
                all.size() - holes(), all.size(), percent());
  std::string text = line;
  for (const Point& point : all) {
    std::snprintf(line, sizeof line, "%12llu  %s\n",
                  static_cast<unsigned long long>(point.hits),  // NOLINT(google-runtime-int)
                  point.name.c_str());
    text += point.hits == 0 ? "        HOLE  " + point.name + "\n" : line;
  }
  return text;
}

}  // namespace hcasim::sim::cosim
