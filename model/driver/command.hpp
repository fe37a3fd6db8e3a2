// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "hcasim/hw/commands.hpp"
#include "hcasim/hw/host_port.hpp"
#include "hcasim/rvt/sync.hpp"

namespace hcasim::rvt {

struct rvt_dev_info;

/// Commands to the adapter, one at a time: mailbox, command register, event with the token.
class CommandChannel {
 public:
  /// What is asked of the adapter.
  struct Command {
    hw::CommandOpcode opcode;
    std::uint32_t object = 0;
    std::uint32_t mask = 0;
    hw::Time timeout = 0;             ///< 0: that of the device's parameters
    std::uint64_t* output = nullptr;  ///< takes hw::Mailbox::output, may be null
  };

  explicit CommandChannel(rvt_dev_info* rdi) : rdi_(rdi) {}
  ~CommandChannel();
  CommandChannel(const CommandChannel&) = delete;
  CommandChannel& operator=(const CommandChannel&) = delete;

  /// Allocates the mailbox. @return 0; -ENOMEM
  int start();
  /// Runs one command. Tasks only.
  /// @return 0; -EINVAL, -ENOMEM or -EOPNOTSUPP as the adapter refused; -EIO it did not answer, now
  ///   or earlier; -EDEADLK the caller must not wait
  int execute(const Command& command, std::span<const std::uint8_t> in,
              std::span<std::uint8_t> out);
  /// Sends a command that must not be refused, as its caller frees what the adapter uses.
  void destroy(const Command& command) { check_destroyed(send(command)); }
  /// What came of such a command: an adapter that refuses it counts as failed.
  void check_destroyed(int error);
  /// For commands that must follow each other with no other between: hold this and call the calls
  /// below that are named so.
  Mutex& turn() { return mutex_; }
  /// Runs one command with a context as input. @return as execute
  template <typename In>
  int send(const Command& command, const In& in) {
    return execute(command, input(in), {});
  }
  /// The same without input.
  int send(const Command& command) { return execute(command, {}, {}); }
  /// The same with a context as output.
  template <typename Out>
  int fetch(const Command& command, Out& out) {
    return execute(command, {}, output(out));
  }
  /// `send` for who holds `turn`.
  template <typename In>
  int send_in_turn(const Command& command, const In& in) {
    return run(command, input(in), {});
  }
  /// `fetch` for who holds `turn`.
  template <typename Out>
  int fetch_in_turn(const Command& command, Out& out) {
    return run(command, {}, output(out));
  }

  /// Takes the adapter's event. Interrupt context.
  void done(std::uint32_t token);
  /// True once a command was not answered, or a destruction refused.
  bool failed() const { return failed_; }
  /// True while commands can be answered.
  bool usable() const { return !failed_ && !stopped_; }
  /// The adapter has been reset: later commands fail with -EIO, but nothing has gone wrong.
  void stop() { stopped_ = true; }

 private:
  template <typename In>
  static std::span<const std::uint8_t> input(const In& in) {
    static_assert(std::is_trivially_copyable_v<In>);
    return {reinterpret_cast<const std::uint8_t*>(&in), sizeof in};
  }
  template <typename Out>
  static std::span<std::uint8_t> output(Out& out) {
    static_assert(std::is_trivially_copyable_v<Out>);
    return {reinterpret_cast<std::uint8_t*>(&out), sizeof out};
  }
  int run(const Command& command, std::span<const std::uint8_t> in, std::span<std::uint8_t> out);
  void issue(const Command& command, std::span<const std::uint8_t> in);
  int await(const Command& command, std::span<std::uint8_t> out);
  void fail();

  rvt_dev_info* rdi_;
  Mutex mutex_;
  std::uint64_t mailbox_ = 0;
  std::uint16_t token_ = 0;
  bool pending_ = false;
  bool failed_ = false;
  bool unanswered_ = false;
  bool stopped_ = false;
  std::unique_ptr<hw::WaitPoint> answered_;
};

}  // namespace hcasim::rvt
