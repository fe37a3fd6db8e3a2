// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>

namespace hcasim::support {

/// The folder of sample captures: HCASIM_SAMPLES, else `shared/samples` beside the source tree. It
/// need not exist; a test that needs it skips itself then.
inline std::filesystem::path samples_folder() {
  if (const char* named = std::getenv("HCASIM_SAMPLES")) return named;
  const auto source = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  return source.parent_path() / "shared" / "samples";
}

/// A capture that was recorded with the rxe driver.
inline std::filesystem::path rxe_capture(const std::filesystem::path& name) {
  return samples_folder() / "rxe" / name;
}

}  // namespace hcasim::support
