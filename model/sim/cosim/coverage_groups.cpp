// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The table of cover groups.
#include "sim/cosim/coverage_groups.hpp"

#include <hcasim/hw/receive_queue_ports.hpp>

namespace hcasim::sim::cosim {
namespace {

using hw::rq::CommandOp;
using hw::rq::CommandStatus;

constexpr std::string_view kOps[] = {"init",     "set_limit",  "pause", "resume",
                                     "to_error", "invalidate", "query", "undefined"};
// As hw::rq::QueueState, and one more.
constexpr std::string_view kStates[] = {"invalid", "ready", "paused", "error", "unknown"};
constexpr std::string_view kStatus[] = {"ok", "bad_state", "bad_queue", "bad_argument"};
constexpr std::string_view kArguments[] = {"init_size",   "init_stride", "init_base",
                                           "init_head",   "resume_size", "resume_base",
                                           "resume_head", "resume_tail"};
constexpr std::string_view kLeaving[] = {"pause", "to_error", "invalidate"};
constexpr std::string_view kQuiet[] = {"nothing", "requests", "takes", "both"};
constexpr std::string_view kMeets[] = {"request_not_accepted", "request_under_way",
                                       "answer_on_port", "waiting_take", "buffered_wqes"};
constexpr std::string_view kRingOps[] = {"init", "resume"};
constexpr std::string_view kSizes[] = {"size_1", "size_2", "size_3", "more"};
constexpr std::string_view kResumes[] = {"other_size", "other_tail", "empty", "full",
                                         "waiting_takes"};
constexpr std::string_view kEffects[] = {"good",   "equal",   "beyond_size", "over_run",
                                         "paused", "invalid", "unknown",     "error"};
constexpr std::string_view kHeads[] = {"slot_0", "last_slot", "ring_full", "one_slot"};
constexpr std::string_view kStorms[] = {"one_queue", "several_queues", "equal_heads", "bad_heads"};
constexpr std::string_view kKinds[] = {"take", "peek"};
constexpr std::string_view kAnswers[] = {"ok", "empty", "flushed", "bad_queue", "fetch_error"};
constexpr std::string_view kCauses[] = {"met_error", "to_error", "invalidate", "bad_doorbell",
                                        "fetch_error"};
constexpr std::string_view kWaits[] = {"nothing", "under_way", "not_requested", "paused",
                                       "earlier_take"};
constexpr std::string_view kPasses[] = {"peek_before_take", "other_queue"};
constexpr std::string_view kStrides[] = {"32", "64", "128", "256", "512"};
constexpr std::string_view kFlow[] = {"flowing", "held_up"};
constexpr std::string_view kRemains[] = {"zero", "one", "more"};
constexpr std::string_view kIndices[] = {"head", "fetch", "tail"};
constexpr std::string_view kOneToEight[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
constexpr std::string_view kLimits[] = {"posted", "prefetch", "ring_end",
                                        "page",   "lines",    "fetch_bytes"};
constexpr std::string_view kEnds[] = {"at_the_end", "before"};
constexpr std::string_view kFirst[] = {"even_first", "odd_first"};
constexpr std::string_view kCount[] = {"even_count", "odd_count"};
constexpr std::string_view kEvictions[] = {"one", "two_or_three", "four_or_more"};
constexpr std::string_view kStage[] = {"evictions_in_a_row", "drop", "fetch_for_the_needy"};
constexpr std::string_view kBeatStates[] = {"invalid", "ready", "paused", "error", "new_life"};
constexpr std::string_view kBeats[] = {"good", "error", "error_last", "short", "too_many"};
constexpr std::string_view kPlaces[] = {"first", "middle", "last", "only"};
constexpr std::string_view kFinds[] = {"take_of_its_slot", "take_of_earlier_slot", "no_take"};
constexpr std::string_view kOrders[] = {"newer_first", "interleaved", "unknown_tag"};
constexpr std::string_view kFires[] = {
    "fires_at_zero", "fires_just_below", "fires_far_below",  "not_at_equal",    "not_above",
    "disarmed",      "set_beyond_size",  "set_while_paused", "survives_resume", "set_again"};
constexpr std::string_view kEvents[] = {"srq_limit", "bad_doorbell", "fetch_error"};
constexpr std::string_view kStalls[] = {"full_for_failed_tag",     "full_for_doorbell",
                                        "full_for_limit",          "failed_tag_before_doorbell",
                                        "failed_tag_before_limit", "doorbell_before_limit"};
constexpr std::string_view kResources[] = {"tags",     "takes",           "events",
                                           "prefetch", "doorbell_buffer", "cmd_buffer"};
constexpr std::string_view kHeld[] = {"none",
                                      "cmd_rsp",
                                      "dma_req",
                                      "cmd_rsp+dma_req",
                                      "take_rsp",
                                      "cmd_rsp+take_rsp",
                                      "dma_req+take_rsp",
                                      "cmd_rsp+dma_req+take_rsp",
                                      "event",
                                      "cmd_rsp+event",
                                      "dma_req+event",
                                      "cmd_rsp+dma_req+event",
                                      "take_rsp+event",
                                      "cmd_rsp+take_rsp+event",
                                      "dma_req+take_rsp+event",
                                      "all"};
constexpr std::string_view kInputs[] = {"none", "cmd",      "doorbell",      "cmd+doorbell",
                                        "take", "cmd+take", "doorbell+take", "all"};
constexpr std::string_view kMeetings[] = {
    "take_and_doorbell", "take_and_init",     "take_and_leave",     "take_and_resume",
    "doorbell_and_cmd",  "beat_and_doorbell", "beat_and_leave",     "judged_and_doorbell",
    "judged_and_leave",  "judged_and_fetch",  "fetch_and_doorbell", "fetch_and_leave"};
constexpr std::string_view kIdles[] = {"requests_under_way", "takes_of_paused_queue",
                                       "woken_by_cmd",       "woken_by_doorbell",
                                       "woken_by_beat",      "woken_by_take"};
constexpr std::string_view kRates[] = {"take_rsp", "doorbell", "dma_rsp"};

CommandStatus status_in(unsigned op, unsigned state) {
  constexpr unsigned kUnknown = 4;
  if (state == kUnknown) return CommandStatus::kBadQueue;
  if (op == 7) return CommandStatus::kBadArgument;
  // Bit s: allowed in state s.
  constexpr unsigned kAllowed[] = {0b0001, 0b0110, 0b0010, 0b0100, 0b1110, 0b1111, 0b1111};
  const bool allowed = (kAllowed[op] >> state & 1U) != 0;
  return allowed ? CommandStatus::kOk : CommandStatus::kBadState;
}

bool command_possible(unsigned op, unsigned state, unsigned status) {
  const CommandStatus expected = status_in(op, state);
  const auto given = static_cast<CommandStatus>(status);
  const bool ring = op == static_cast<unsigned>(CommandOp::kInit) ||
                    op == static_cast<unsigned>(CommandOp::kResume);
  return given == expected ||
         (ring && expected == CommandStatus::kOk && given == CommandStatus::kBadArgument);
}

bool quiet_possible(unsigned op, unsigned what, unsigned /*none*/) {
  return op != 0 || what < 2;  // PAUSE waits for no take
}

bool answer_possible(unsigned kind, unsigned status, unsigned /*none*/) {
  return kind == 0 || status != 4;
}

bool ring_end_possible(unsigned distance, unsigned end, unsigned /*none*/) {
  return distance != 0 || end == 0;
}

// A queue begins a new life only when no request of the former one is left.
bool beat_possible(unsigned state, unsigned /*kind*/, unsigned /*none*/) {
  return state < 4;
}

constexpr CoverGroupForm kGroups[kCoverGroups] = {
    {"command", {kOps, kStates, kStatus}, command_possible},
    {"argument", {kArguments}},
    {"quiet", {kLeaving, kQuiet}, quiet_possible},
    {"leave", {kLeaving, kMeets}},
    {"ring", {kRingOps, kSizes}},
    {"resume", {kResumes}},
    {"doorbell", {kEffects}},
    {"doorbell_head", {kHeads}},
    {"storm", {kStorms}},
    {"take", {kKinds, kStates}},
    {"answer", {kKinds, kAnswers}, answer_possible},
    {"flushed", {kKinds, kCauses}},
    {"wait", {kWaits}},
    {"pass", {kPasses}},
    {"stride", {kStrides, kFlow}},
    {"remaining", {kRemains}},
    {"wrap", {kIndices}},
    {"fetch_slots", {kOneToEight}},
    {"fetch_limit", {kLimits}},
    {"ring_end", {kOneToEight, kEnds}, ring_end_possible},
    {"half_beats", {kFirst, kCount}},
    {"evict", {kEvictions}},
    {"fetch_stage", {kStage}},
    {"beat", {kBeatStates, kBeats}, beat_possible},
    {"error_at", {kPlaces}},
    {"fetch_error", {kFinds}},
    {"beat_order", {kOrders}},
    {"limit", {kFires}},
    {"event", {kEvents}},
    {"event_stall", {kStalls}},
    {"full", {kResources}},
    {"held", {kHeld}},
    {"input_held", {kInputs}},
    {"same_cycle", {kMeetings}},
    {"idle", {kIdles}},
    {"full_rate", {kRates}},
};

}  // namespace

std::span<const CoverGroupForm, kCoverGroups> cover_groups() {
  return kGroups;
}

}  // namespace hcasim::sim::cosim
