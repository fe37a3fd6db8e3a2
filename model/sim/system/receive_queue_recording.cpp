// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "sim/system/receive_queue_recording.hpp"

#include <algorithm>
#include <string_view>

#include "sim/output/output_file.hpp"

namespace hcasim::sim {

std::filesystem::path recording_of_node(const std::filesystem::path& file,
                                        const std::string& node) {
  std::filesystem::path named = file;
  named.replace_filename(file.stem().string() + '-' + node + file.extension().string());
  return named;
}

void ReceiveQueueRecording::write(OutputSet* outputs) const {
  OutputFile file(file_, outputs);
  hw::rq::Parameters needed = parameters_;
  // No timing depends on the number of queues, and the largest RTL of the project has so many.
  constexpr std::uint32_t kQueuesOfRtl = 1024;
  needed.queues = std::min(parameters_.queues, std::max(queues_, kQueuesOfRtl));
  file.write(hca::stimulus_head(needed));
  file.write(text_);
  file.commit();
}

}  // namespace hcasim::sim
