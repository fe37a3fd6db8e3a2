// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue_rtl/receive_queue_library.hpp"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace hcasim::hca {

namespace {

using hw::rq::Plugin;

// A plug-in of another build may have other structs under the same version.
void check_sizes(const Plugin& plugin, const std::string& file) {
  struct Size {
    const char* what;
    std::size_t expected;
    std::uint32_t found;
  };
  const std::array<Size, 5> sizes{{
      {"a table", sizeof(Plugin), plugin.plugin_bytes},
      {"inputs", sizeof(hw::rq::Inputs), plugin.inputs_bytes},
      {"outputs", sizeof(hw::rq::Outputs), plugin.outputs_bytes},
      {"counters", sizeof(hw::rq::Counters), plugin.counters_bytes},
      {"snapshots", sizeof(hw::rq::Snapshot), plugin.snapshot_bytes},
  }};
  for (const Size& it : sizes) {
    if (it.found == it.expected) continue;
    throw ReceiveQueueLibraryError(
        file, std::string(it.what) + " of " + std::to_string(it.expected) + " bytes",
        std::to_string(it.found));
  }
}

// Closes the library unless told otherwise.
struct Closer {
  void operator()(void* handle) const { dlclose(handle); }
};

}  // namespace

void check_plugin(const Plugin& plugin, const std::string& file) {
  if (plugin.version != hw::rq::kPluginVersion) {
    throw ReceiveQueueLibraryError(
        file, "version " + std::to_string(hw::rq::kPluginVersion) + " of the plug-in interface",
        std::to_string(plugin.version));
  }
  check_sizes(plugin, file);
  const bool complete = plugin.name != nullptr && plugin.backend != nullptr &&
                        plugin.create != nullptr && plugin.destroy != nullptr &&
                        plugin.reset != nullptr && plugin.step != nullptr &&
                        plugin.error != nullptr;
  if (!complete) {
    throw ReceiveQueueLibraryError(
        file, "name, backend, create, destroy, reset, step and error in the table", "null");
  }
  if (!hw::rq::valid(plugin.parameters)) {
    throw ReceiveQueueLibraryError(file, "parameters in the ranges of the contract", "others");
  }
}

std::shared_ptr<const ReceiveQueueLibrary> ReceiveQueueLibrary::load(const std::string& file) {
  // The loader would look for a bare name in the folders of the system.
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  std::unique_ptr<void, Closer> handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (handle == nullptr) {
    throw ReceiveQueueLibraryError(file, "a shared library", dlerror());
  }
  const auto entry =
      reinterpret_cast<hw::rq::PluginFunction>(dlsym(handle.get(), hw::rq::kPluginSymbol));
  if (entry == nullptr) {
    throw ReceiveQueueLibraryError(
        file, std::string("a receive-queue plug-in, which has a function ") + hw::rq::kPluginSymbol,
        "none");
  }
  const Plugin* const plugin = entry();
  if (plugin == nullptr) throw ReceiveQueueLibraryError(file, "a table of functions", "null");
  check_plugin(*plugin, file);
  return std::shared_ptr<const ReceiveQueueLibrary>(
      new ReceiveQueueLibrary(file, handle.release(), plugin));
}

ReceiveQueueLibrary::ReceiveQueueLibrary(std::string file, void* handle, const Plugin* plugin)
    : file_(std::move(file)), handle_(handle), plugin_(plugin) {}

ReceiveQueueLibrary::~ReceiveQueueLibrary() {
  dlclose(handle_);
}

}  // namespace hcasim::hca
