// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hcasim::sim::cosim {

/// What kind of traffic a random run sees, whatever the size of the unit. Chances are in percent
/// and per cycle unless said otherwise.
struct Profile {
  std::string_view name;
  std::string_view text;  ///< one line for people
  unsigned queues = 8;    ///< queues that are used, at most
  unsigned take = 40;
  unsigned peek = 10;  ///< of the takes
  unsigned doorbell = 30;
  unsigned fill = 50;          ///< of the doorbells: as much as there is room for
  unsigned wild_doorbell = 2;  ///< of the doorbells: any head, any queue
  unsigned burst = 0;          ///< per mille: 16 doorbells, one in each cycle
  unsigned command = 10;
  unsigned wild_command = 5;   ///< of the commands: any operation, any argument
  unsigned leave = 20;         ///< of the commands to a READY queue: PAUSE, TO_ERROR, INVALIDATE
  unsigned set_limit = 70;     ///< of the others
  unsigned unknown_queue = 1;  ///< of takes, doorbells and commands
  unsigned dma_delay = 20;     ///< most cycles from request to first beat
  unsigned dma_gap = 1;        ///< most cycles between beats
  bool dma_in_order = false;
  unsigned dma_fault = 0;       ///< per mille
  unsigned cmd_rsp_ready = 80;  ///< how much of the time the output is accepted
  unsigned dma_req_ready = 80;
  unsigned take_rsp_ready = 80;
  unsigned event_ready = 80;
  unsigned smallest_ring = 1;
  unsigned largest_ring = 16;
  unsigned strides = 31;  ///< bit i: 32 << i bytes
  bool phases = true;     ///< times without takes, without doorbells, without anything
};

/// All profiles, in the order in which they run.
std::span<const Profile> profiles();

/// @return null when there is none of that name
const Profile* find_profile(std::string_view name);

}  // namespace hcasim::sim::cosim
