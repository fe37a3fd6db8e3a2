// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/output/output_set.hpp"

#include <system_error>
#include <utility>

#include "hcasim/sim/input_error.hpp"
#include "sim/output/output_place.hpp"
#include "sim/output/temporary_file.hpp"

namespace hcasim::sim {

OutputSet::OutputSet() = default;
OutputSet::~OutputSet() = default;

void OutputSet::add(const std::filesystem::path& name, std::unique_ptr<TemporaryFile> file) {
  waiting_.push_back({name, std::move(file)});
}

void OutputSet::commit() {
  // What can be known to fail fails before the first file has its name.
  for (const Waiting& waiting : waiting_) find_output_place(waiting.name);
  for (const Waiting& waiting : waiting_) {
    try {
      waiting.file->move_to_place();
    } catch (const std::system_error& error) {
      throw OutputError(waiting.name.string(), error.code().message());
    }
  }
  waiting_.clear();
}

}  // namespace hcasim::sim
