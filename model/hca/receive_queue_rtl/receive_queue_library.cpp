// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include "hca/receive_queue_rtl/receive_queue_library.hpp"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace hcasim::hca {

namespace {

using hw::rq::Plugin;

std::string mismatch(const std::string& what, std::uint32_t expected, std::uint32_t found) {
  return "expected " + what + ' ' + std::to_string(expected) + ", found " + std::to_string(found);
}

// A plug-in of another build may have other structs under the same version.
std::string wrong_size(const Plugin& plugin) {
  struct Size {
    const char* what;
    std::size_t expected;
    std::uint32_t found;
  };
  const std::array<Size, 5> sizes{{
      {"a table of size", sizeof(Plugin), plugin.plugin_bytes},
      {"inputs of size", sizeof(hw::rq::Inputs), plugin.inputs_bytes},
      {"outputs of size", sizeof(hw::rq::Outputs), plugin.outputs_bytes},
      {"counters of size", sizeof(hw::rq::Counters), plugin.counters_bytes},
      {"a snapshot of size", sizeof(hw::rq::Snapshot), plugin.snapshot_bytes},
  }};
  for (const Size& it : sizes) {
    if (it.found != it.expected) {
      return mismatch(it.what, static_cast<std::uint32_t>(it.expected), it.found);
    }
  }
  return {};
}

// Closes the library unless told otherwise.
struct Closer {
  void operator()(void* handle) const { dlclose(handle); }
};

}  // namespace

std::string unusable_because(const Plugin& plugin) {
  if (plugin.version != hw::rq::kPluginVersion) {
    return mismatch("interface version", hw::rq::kPluginVersion, plugin.version);
  }
  if (std::string wrong = wrong_size(plugin); !wrong.empty()) return wrong;
  const bool complete = plugin.name != nullptr && plugin.backend != nullptr &&
                        plugin.create != nullptr && plugin.destroy != nullptr &&
                        plugin.reset != nullptr && plugin.step != nullptr &&
                        plugin.error != nullptr;
  if (!complete) return "expected name, backend, create, destroy, reset, step and error to be set";
  if (!hw::rq::valid(plugin.parameters)) return "expected parameters in the ranges of the contract";
  return {};
}

std::shared_ptr<const ReceiveQueueLibrary> ReceiveQueueLibrary::load(const std::string& file) {
  // The loader would look for a bare name in the folders of the system.
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  std::unique_ptr<void, Closer> handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (handle == nullptr) {
    throw ReceiveQueueLibraryError(file + ": expected a shared library: " + dlerror());
  }
  const auto entry =
      reinterpret_cast<hw::rq::PluginFunction>(dlsym(handle.get(), hw::rq::kPluginSymbol));
  if (entry == nullptr) {
    throw ReceiveQueueLibraryError(file + ": expected a receive-queue plug-in with a function " +
                                   hw::rq::kPluginSymbol + ", found none");
  }
  const Plugin* const plugin = entry();
  const std::string why =
      plugin == nullptr ? "expected a table, found none" : unusable_because(*plugin);
  if (!why.empty()) throw ReceiveQueueLibraryError(file + ": " + why);
  return std::shared_ptr<const ReceiveQueueLibrary>(
      new ReceiveQueueLibrary(file, handle.release(), plugin));
}

ReceiveQueueLibrary::ReceiveQueueLibrary(std::string file, void* handle, const Plugin* plugin)
    : file_(std::move(file)), handle_(handle), plugin_(plugin) {}

ReceiveQueueLibrary::~ReceiveQueueLibrary() {
  dlclose(handle_);
}

}  // namespace hcasim::hca
