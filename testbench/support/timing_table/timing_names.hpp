// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

/// Words of the tables; the place in the array is the value of the enumerator.
namespace hcasim::testbench {

inline constexpr std::array<std::string_view, 7> kOpNames{
    "INIT", "SET_LIMIT", "PAUSE", "RESUME", "TO_ERROR", "INVALIDATE", "QUERY"};
inline constexpr std::array<std::string_view, 4> kCommandStatusNames{"OK", "BAD_STATE", "BAD_QUEUE",
                                                                     "BAD_ARGUMENT"};
inline constexpr std::array<std::string_view, 4> kStateNames{"INVALID", "READY", "PAUSED", "ERROR"};
inline constexpr std::array<std::string_view, 5> kTakeStatusNames{"OK", "EMPTY", "FLUSHED",
                                                                  "BAD_QUEUE", "FETCH_ERROR"};
inline constexpr std::array<std::string_view, 3> kEventNames{"SRQ_LIMIT", "BAD_DOORBELL",
                                                             "FETCH_ERROR"};

}  // namespace hcasim::testbench
