// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Text to operations.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <hcasim/sim/input_error.hpp>
#include <hcasim/sim/nearest.hpp>

#include "sim/cosim/stimulus_list.hpp"
#include "sim/cosim/stimulus_syntax.hpp"

namespace hcasim::sim::cosim {
namespace {

/// One line, read from the left; a `#` begins a comment.
class Line {
 public:
  Line(const std::string& file, std::uint64_t number, std::string_view text)
      : file_(file), number_(number), text_(text.substr(0, text.find('#'))) {
    skip_blanks();
  }

  bool at_end() const { return at_ == text_.size(); }

  /// Everything up to the next blank or, if given, `stop`.
  std::string_view word(char stop = ' ') {
    word_at_ = at_;
    while (at_ < text_.size() && !blank(text_[at_]) && text_[at_] != stop) ++at_;
    const std::string_view found = text_.substr(word_at_, at_ - word_at_);
    if (stop == ' ') skip_blanks();
    return found;
  }

  void expect_end() {
    if (!at_end()) fail("the end of the line", word());
  }

  /// `NAME=`; what follows is the value.
  void key(std::string_view name) {
    const std::string_view found = word('=');
    if (found != name || at_end() || text_[at_] != '=') {
      fail(std::string(name) + "=", found.empty() ? "the end of the line" : found);
    }
    ++at_;
  }

  [[noreturn]] void fail(const std::string& expected, std::string_view found,
                         const std::string& suggestion = {}) const {
    throw InputError(file_, number_, word_at_ + 1, expected, std::string(found), suggestion);
  }

  std::uint32_t number(std::uint32_t least, std::uint32_t most) {
    const std::string_view found = word();
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    const bool good = error == std::errc() && end == found.data() + found.size();
    if (!good || value < least || value > most) {
      fail("a number from " + std::to_string(least) + " to " + std::to_string(most), found);
    }
    return value;
  }

 private:
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skip_blanks() {
    while (at_ < text_.size() && blank(text_[at_])) ++at_;
  }

  const std::string& file_;
  std::uint64_t number_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t word_at_ = 0;
};

std::uint32_t read_bits(Line& line) {
  const std::string_view found = line.word();
  const bool good = !found.empty() && found.size() <= kPatternBits &&
                    found.find_first_not_of("01") == std::string_view::npos;
  if (!good) line.fail("1 to " + std::to_string(kPatternBits) + " digits 0 or 1", found);
  std::uint32_t pattern = 1;
  for (const char c : found) pattern = pattern << 1U | (c == '1' ? 1U : 0U);
  return pattern;
}

std::uint32_t read_word(Line& line, std::span<const std::string_view> words) {
  const std::string_view found = line.word();
  std::string expected;
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    if (words[i] == found) return i;
    expected += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + std::string(words[i]);
  }
  line.fail(expected, found, nearest(found, words));
}

Operation read_operation(Line& line) {
  const std::string_view name = line.word();
  std::vector<std::string_view> names;
  for (const OperationForm& form : operation_forms()) names.push_back(form.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) line.fail("an operation", name, nearest(name, names));
  Operation operation;
  operation.kind = static_cast<OperationKind>(found - names.begin());
  for (const Field& field : form_of(operation.kind).fields) {
    line.key(field.name);
    switch (field.form) {
      case FieldForm::kNumber:
        operation.*field.member = line.number(field.least, field.most);
        break;
      case FieldForm::kWord:
        operation.*field.member = read_word(line, field.words);
        break;
      case FieldForm::kBits:
        operation.*field.member = read_bits(line);
        break;
    }
  }
  line.expect_end();
  return operation;
}

hw::rq::Parameters read_parameters(Line& line) {
  const std::string_view word = line.word();
  if (word != kParametersWord) line.fail(std::string(kParametersWord), word);
  hw::rq::Parameters parameters;
  for (const ParameterField& field : kParameterFields) {
    line.key(field.name);
    hw::rq::Parameters usual;
    usual.*field.member = line.number(0, 0xFFFFFFFF);
    if (!valid(usual)) {
      line.fail("a value of " + std::string(field.name) + " within its range",
                std::to_string(usual.*field.member));
    }
    parameters.*field.member = usual.*field.member;
  }
  line.expect_end();
  return parameters;
}

}  // namespace

StimulusList read_stimulus(std::string_view text, const std::string& name) {
  StimulusList list;
  std::uint64_t number = 0;
  bool parameters = false;
  if (text.empty()) throw InputError(name, 1, 1, std::string(kFirstLine), "the end of the file");
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!content.empty() && content.back() == '\r') content.remove_suffix(1);
    if (++number == 1) {
      if (content != kFirstLine) {
        throw InputError(name, 1, 1, std::string(kFirstLine), std::string(content));
      }
      continue;
    }
    Line line(name, number, content);
    if (line.at_end()) continue;
    if (parameters) {
      list.operations.push_back(read_operation(line));
    } else {
      list.parameters = read_parameters(line);
      parameters = true;
    }
  }
  if (!parameters) {
    throw InputError(name, number + 1, 1, std::string(kParametersWord), "the end of the file");
  }
  return list;
}

StimulusList load_stimulus(const std::string& path) {
  const bool standard = path == "-";
  std::FILE* const file = standard ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw InputError(path, 0, 0, "a readable file", std::strerror(errno));
  std::string text;
  std::array<char, 65536> part{};
  std::size_t count = 0;
  while ((count = std::fread(part.data(), 1, part.size(), file)) != 0) {
    text.append(part.data(), count);
  }
  const int error = std::ferror(file) != 0 ? errno : 0;
  if (!standard) std::fclose(file);
  if (error != 0) throw InputError(path, 0, 0, "a readable file", std::strerror(error));
  return read_stimulus(text, path);
}

}  // namespace hcasim::sim::cosim
