// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/ftrace/parse.hpp"

#include <charconv>
#include <limits>
#include <type_traits>

namespace hcasim::sim::ftrace {
namespace {

constexpr std::string_view kBlanks = " \t";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Takes what a layout names off the front of a text.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t column) : text_(text), column_(column) {}

  Scanner& text(std::string_view literal) {
    if (!text_.starts_with(literal)) fail('\'' + std::string(literal) + '\'');
    return skip(literal.size());
  }
  Scanner& rest(std::string_view& words) {
    words = text_;
    return skip(text_.size());
  }
  Scanner& boolean(bool& value) {
    value = text_.starts_with("true");
    if (!value && !text_.starts_with("false")) fail("true or false");
    return skip(value ? 4 : 5);
  }
  template <typename T>
  Scanner& decimal(T& value) {
    return number(value, 10, "a decimal number");
  }
  template <typename T>
  Scanner& hex(T& value) {
    skip_0x();
    return number(value, 16, "a hexadecimal number");
  }
  template <typename T>
  Scanner& hex2(T& value) {
    return hex(value);
  }
  /// A real or a hashed pointer, or what the kernel prints in place of one.
  Scanner& pointer(std::uint64_t& value) {
    skip_0x();
    if (text_.starts_with('(')) {
      value = 0;
      return skip(std::min(text_.find(')'), text_.size() - 1) + 1);
    }
    return number(value, 16, "a pointer");
  }
  // The number before it says the same; programs that do not know the names print something else.
  Scanner& wr_opcode(std::uint32_t& /*value*/) { return skip(word_length()); }
  Scanner& wc_opcode(std::uint32_t& /*value*/) { return skip(word_length()); }

  void expect_end() {
    const std::size_t blanks = std::min(text_.find_first_not_of(" \t\r"), text_.size());
    skip(blanks);
    if (!text_.empty()) fail("the end of the line");
  }
  /// What stands between brackets.
  std::string_view device() {
    text("[");
    const std::size_t end = text_.find(']');
    if (end == std::string_view::npos || end == 0) fail("the name of a device and ']'");
    const std::string_view name = text_.substr(0, end);
    skip(end + 1);
    return name;
  }

 private:
  Scanner& skip(std::size_t count) {
    text_.remove_prefix(count);
    column_ += count;
    return *this;
  }
  void skip_0x() {
    while (text_.starts_with("0x")) skip(2);
  }
  std::size_t word_length() const {
    const std::size_t end = text_.find(' ');
    return end == std::string_view::npos ? text_.size() : end;
  }
  template <typename T>
  Scanner& number(T& value, int base, const char* expected) {
    const char* const end = text_.data() + text_.size();
    const auto [last, error] = std::from_chars(text_.data(), end, value, base);
    if (error != std::errc() || (last != end && is_word(*last))) {
      fail(std::string(expected) + " of at most " + std::to_string(8 * sizeof(T)) + " bits");
    }
    return skip(static_cast<std::size_t>(last - text_.data()));
  }
  [[noreturn]] void fail(std::string expected) const {
    const std::size_t begin = std::min(text_.find_first_not_of(kBlanks), text_.size());
    const std::string_view found = text_.substr(begin, text_.find(' ', begin) - begin);
    throw FieldError{column_, std::move(expected),
                     found.empty() ? "the end of the line" : std::string(found)};
  }

  std::string_view text_;
  std::size_t column_;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool to_number(std::string_view text, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && last == end && all_digits(text);
}

/// SECONDS.FRACTION, or an integer.
bool parse_time(std::string_view text, Line& line) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) {
    line.ticks = true;
    return to_number(text, line.time);
  }
  constexpr std::size_t kDigits = 9;  // of ns
  constexpr std::uint64_t kSecond = 1'000'000'000;
  std::string fraction(text.substr(dot + 1));
  if (!all_digits(fraction)) return false;
  fraction.resize(kDigits, '0');
  std::uint64_t seconds = 0;
  std::uint64_t ns = 0;
  if (!to_number(text.substr(0, dot), seconds) || !to_number(fraction, ns)) return false;
  if (seconds >= std::numeric_limits<std::uint64_t>::max() / kSecond) return false;
  line.time = seconds * kSecond + ns;
  line.ticks = false;
  return true;
}

bool is_flags(std::string_view text) {
  return (text.size() == 4 || text.size() == 5) &&
         text.find_first_not_of("dDbXnNpBLlhHszZ.0123456789abcdef#") == std::string_view::npos;
}

/// The last word of a text, cut off it.
std::string_view take_last_word(std::string_view& text) {
  const std::size_t blank = text.find_last_of(kBlanks);
  const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  const std::string_view word = text.substr(begin);
  text = trimmed(text.substr(0, begin));
  return word;
}

/// [CPU], with flags behind it or not; or CPU and flags in one word (latency format).
bool take_cpu(std::string_view& head, Line& line, bool& has_flags) {
  std::string_view word = take_last_word(head);
  has_flags = false;
  if (is_flags(word) && head.ends_with(']')) {
    has_flags = true;
    word = take_last_word(head);
  }
  if (word.starts_with('[') && word.ends_with(']')) {
    return to_number(word.substr(1, word.size() - 2), line.cpu);
  }
  for (const std::size_t length : {5, 4}) {
    if (word.size() <= length || !is_flags(word.substr(word.size() - length))) continue;
    if (to_number(word.substr(0, word.size() - length), line.cpu)) return true;
  }
  return false;
}

/// (TGID), as numbers or as signs for an unknown one.
void skip_group(std::string_view& head) {
  if (!head.ends_with(')')) return;
  const std::size_t open = head.rfind('(');
  if (open == std::string_view::npos || open == 0) return;
  const std::string_view inside = trimmed(head.substr(open + 1, head.size() - open - 2));
  if (all_digits(inside) || inside.find_first_not_of('-') == std::string_view::npos) {
    head = trimmed(head.substr(0, open));
  }
}

/// TASK-PID or, as perf has it, TASK PID or TASK PID/TID. Tasks may hold blanks and '-'.
bool take_task(std::string_view head, Line& line, bool& perf) {
  const std::size_t last = head.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == head.size()) return false;
  if (!to_number(head.substr(last + 1), line.pid)) return false;
  line.task = trimmed(head.substr(0, last));
  perf = head[last] != '-';
  if (head[last] == '/') {
    std::string_view rest = head.substr(0, last);
    if (!all_digits(take_last_word(rest))) return false;
    line.task = rest;
    return true;
  }
  return head[last] == '-' || head[last] == ' ';
}

bool parse_head(std::string_view head, Line& line) {
  head = trimmed(head);
  bool has_flags = false;
  bool perf = false;
  if (!take_cpu(head, line, has_flags)) return false;
  skip_group(head);
  if (!take_task(head, line, perf)) return false;
  line.form = perf ? Form::kPerf : has_flags ? Form::kKernel : Form::kTraceCmd;
  return true;
}

std::size_t word_end(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  return end;
}

/// [SYSTEM:]EVENT: TEXT
void parse_body(std::string_view whole, std::size_t begin, Line& line) {
  std::string_view body = whole.substr(begin);
  const auto skip_blanks = [&] {
    body.remove_prefix(std::min(body.find_first_not_of(kBlanks), body.size()));
  };
  skip_blanks();
  for (int part = 0; part < 2; ++part) {
    const std::size_t end = word_end(body);
    if (end == 0 || end == body.size() || body[end] != ':') break;
    line.event = body.substr(0, end);
    body.remove_prefix(end + 1);
    if (body.empty() || !is_word(body.front())) break;
  }
  skip_blanks();
  line.text = body;
  line.text_column = whole.size() - body.size() + 1;
}

/// Tries each colon for the one behind the time: tasks may hold colons too.
bool parse_event_line(std::string_view text, Line& line) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const std::size_t blank = text.substr(0, colon).find_last_of(kBlanks);
    if (blank == std::string_view::npos) continue;
    Line found;
    if (!parse_time(text.substr(blank + 1, colon - blank - 1), found)) continue;
    if (!parse_head(text.substr(0, blank), found)) continue;
    parse_body(text, colon + 1, found);
    found.kind = LineKind::kEvent;
    line = found;
    return true;
  }
  return false;
}

std::uint64_t number_behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return 0;
  std::uint64_t number = 0;
  const char* const begin = text.data() + at + mark.size();
  std::from_chars(begin, text.data() + text.size(), number);
  return number;
}

bool parse_lost(std::string_view text, Line& line) {
  const bool from_ring =
      text.starts_with("CPU:") && (text.find("LOST") != std::string_view::npos ||
                                   text.find("DROPPED") != std::string_view::npos);
  const bool from_perf = text.find("PERF_RECORD_LOST") != std::string_view::npos;
  if (!from_ring && !from_perf) return false;
  line.kind = LineKind::kLost;
  line.lost = number_behind(text, from_perf ? "lost " : "[LOST ");
  return true;
}

}  // namespace

Line parse_line(std::string_view text) {
  Line line;
  const std::string_view words = trimmed(text);
  if (words.empty() || words.starts_with('#') || words.starts_with("cpus=")) {
    line.kind = LineKind::kHeader;
    return line;
  }
  if (parse_lost(words, line)) return line;
  if (parse_event_line(text, line)) return line;
  // A stack below its event.
  if (words.starts_with("=> ")) line.kind = LineKind::kHeader;
  return line;
}

Event parse_event(EventKind kind, const Line& line) {
  Scanner scanner(line.text, line.text_column);
  Event event{kind, scanner.device(), fields_of(kind)};
  std::visit([&](auto& fields) { fields.layout(fields, scanner); }, event.fields);
  scanner.expect_end();
  return event;
}

std::string_view name_of(Form form) {
  switch (form) {
    case Form::kKernel:
      return "the kernel's text";
    case Form::kTraceCmd:
      return "trace-cmd report";
    case Form::kPerf:
      return "perf script";
  }
  return {};
}

}  // namespace hcasim::sim::ftrace
