// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/line_source.hpp"

#include <cstring>

#include <hcasim/sim/input_error.hpp>

namespace hcasim::sim::trace {
namespace {

constexpr std::size_t kBufferSize = 4 * kLongestLine;

}  // namespace

LineSource::LineSource(std::unique_ptr<ByteSource> source, std::string name)
    : source_(std::move(source)), name_(std::move(name)), buffer_(kBufferSize) {}

bool LineSource::next(std::string_view& line) {
  std::size_t searched = 0;
  while (true) {
    const char* start = buffer_.data() + begin_;
    const std::size_t have = end_ - begin_;
    const void* hit = std::memchr(start + searched, '\n', have - searched);
    if (hit != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(hit) - start);
      begin_ += length + 1;
      return finish({start, length}, line);
    }
    searched = have;
    const bool more = have <= kLongestLine && refill();
    if (more) continue;
    if (have == 0) return false;
    start = buffer_.data() + begin_;
    begin_ = end_;
    return finish({start, have}, line);
  }
}

// Moves what is left to the front and reads more behind it.
bool LineSource::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  try {
    const std::size_t count = source_->read(buffer_.data() + end_, buffer_.size() - end_);
    end_ += count;
    return count != 0;
  } catch (const SourceFault& fault) {
    throw InputError(name_, number_ + 1, 1, fault.expected, fault.found);
  }
}

bool LineSource::finish(std::string_view text, std::string_view& line) {
  ++number_;
  if (text.size() > kLongestLine) {
    throw InputError(name_, number_, kLongestLine + 1,
                     "a line of at most " + std::to_string(kLongestLine) + " bytes", "");
  }
  const void* nul = std::memchr(text.data(), '\0', text.size());
  if (nul != nullptr) {
    const auto column = static_cast<std::size_t>(static_cast<const char*>(nul) - text.data()) + 1;
    throw InputError(name_, number_, column, "text", std::string(1, '\0'));
  }
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  line = text;
  return true;
}

}  // namespace hcasim::sim::trace
