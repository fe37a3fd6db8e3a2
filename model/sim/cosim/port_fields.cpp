// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// The signals of the unit as a table.
#include "sim/cosim/port_fields.hpp"

namespace hcasim::sim::cosim {
namespace {

using namespace hw::rq;
using Out = const Outputs&;
using In = const Inputs&;

template <typename Ports>
bool always(const Ports&) {
  return true;
}
bool answered(Out o) {
  return o.cmd_rsp_valid;
}
bool requested(Out o) {
  return o.dma_req_valid;
}
bool judged(Out o) {
  return o.take_rsp_valid;
}
bool told(Out o) {
  return o.event_valid;
}
bool commands(In i) {
  return i.cmd_valid;
}
bool rings(In i) {
  return i.doorbell_valid;
}
bool answers(In i) {
  return i.dma_rsp_valid;
}
bool takes(In i) {
  return i.take_valid;
}

template <typename T>
std::uint64_t number(T value) {
  return static_cast<std::uint64_t>(value);
}

constexpr PortField<Outputs> kOutputs[] = {
    {"cmd", "ready", 1, always, [](Out o) { return number(o.cmd_ready); }},
    {"doorbell", "ready", 1, always, [](Out o) { return number(o.doorbell_ready); }},
    {"take", "ready", 1, always, [](Out o) { return number(o.take_ready); }},
    {"cmd_rsp", "valid", 1, always, [](Out o) { return number(o.cmd_rsp_valid); }},
    {"cmd_rsp", "status", 2, answered, [](Out o) { return number(o.cmd_rsp.status); }},
    {"cmd_rsp", "state", 2, answered, [](Out o) { return number(o.cmd_rsp.snapshot.state); }},
    {"cmd_rsp", "size", 16, answered, [](Out o) { return number(o.cmd_rsp.snapshot.size); }},
    {"cmd_rsp", "head", 16, answered, [](Out o) { return number(o.cmd_rsp.snapshot.head); }},
    {"cmd_rsp", "fetch", 16, answered, [](Out o) { return number(o.cmd_rsp.snapshot.fetch); }},
    {"cmd_rsp", "tail", 16, answered, [](Out o) { return number(o.cmd_rsp.snapshot.tail); }},
    {"cmd_rsp", "limit", 16, answered, [](Out o) { return number(o.cmd_rsp.snapshot.limit); }},
    {"dma_req", "valid", 1, always, [](Out o) { return number(o.dma_req_valid); }},
    {"dma_req", "tag", 6, requested, [](Out o) { return number(o.dma_req.tag); }},
    {"dma_req", "address", 64, requested, [](Out o) { return o.dma_req.address; }},
    {"dma_req", "bytes", 13, requested, [](Out o) { return number(o.dma_req.bytes); }},
    {"take_rsp", "valid", 1, always, [](Out o) { return number(o.take_rsp_valid); }},
    {"take_rsp", "tag", 32, judged, [](Out o) { return number(o.take_rsp.tag); }},
    {"take_rsp", "status", 3, judged, [](Out o) { return number(o.take_rsp.status); }},
    {"take_rsp", "last", 1, judged, [](Out o) { return number(o.take_rsp.last); }},
    {"take_rsp", "slot", 16, judged, [](Out o) { return number(o.take_rsp.slot); }},
    {"take_rsp", "remaining", 16, judged, [](Out o) { return number(o.take_rsp.remaining); }},
    {"event", "valid", 1, always, [](Out o) { return number(o.event_valid); }},
    {"event", "queue", 24, told, [](Out o) { return number(o.event.queue); }},
    {"event", "kind", 2, told, [](Out o) { return number(o.event.kind); }},
    {"event", "value", 32, told, [](Out o) { return number(o.event.value); }},
    {"idle", "idle", 1, always, [](Out o) { return number(o.idle); }},
};

constexpr PortField<Inputs> kInputs[] = {
    {"cmd", "valid", 1, always, [](In i) { return number(i.cmd_valid); }},
    {"cmd", "op", 3, commands, [](In i) { return number(i.cmd.op); }},
    {"cmd", "queue", 24, commands, [](In i) { return number(i.cmd.queue); }},
    {"cmd", "base", 64, commands, [](In i) { return i.cmd.base; }},
    {"cmd", "size", 16, commands, [](In i) { return number(i.cmd.size); }},
    {"cmd", "stride", 16, commands, [](In i) { return number(i.cmd.stride); }},
    {"cmd", "head", 16, commands, [](In i) { return number(i.cmd.head); }},
    {"cmd", "tail", 16, commands, [](In i) { return number(i.cmd.tail); }},
    {"cmd", "limit", 16, commands, [](In i) { return number(i.cmd.limit); }},
    {"cmd", "arm", 32, commands, [](In i) { return number(i.cmd.arm); }},
    {"doorbell", "valid", 1, always, [](In i) { return number(i.doorbell_valid); }},
    {"doorbell", "queue", 24, rings, [](In i) { return number(i.doorbell.queue); }},
    {"doorbell", "head", 16, rings, [](In i) { return number(i.doorbell.head); }},
    {"dma_rsp", "valid", 1, always, [](In i) { return number(i.dma_rsp_valid); }},
    {"dma_rsp", "tag", 6, answers, [](In i) { return number(i.dma_rsp.tag); }},
    {"dma_rsp", "last", 1, answers, [](In i) { return number(i.dma_rsp.last); }},
    {"dma_rsp", "error", 1, answers, [](In i) { return number(i.dma_rsp.error); }},
    {"take", "valid", 1, always, [](In i) { return number(i.take_valid); }},
    {"take", "queue", 24, takes, [](In i) { return number(i.take.queue); }},
    {"take", "tag", 32, takes, [](In i) { return number(i.take.tag); }},
    {"take", "kind", 1, takes, [](In i) { return number(i.take.kind); }},
    {"cmd_rsp", "ready", 1, always, [](In i) { return number(i.cmd_rsp_ready); }},
    {"dma_req", "ready", 1, always, [](In i) { return number(i.dma_req_ready); }},
    {"take_rsp", "ready", 1, always, [](In i) { return number(i.take_rsp_ready); }},
    {"event", "ready", 1, always, [](In i) { return number(i.event_ready); }},
};

}  // namespace

std::span<const PortField<Inputs>> input_fields() {
  return kInputs;
}

std::span<const PortField<Outputs>> output_fields() {
  return kOutputs;
}

}  // namespace hcasim::sim::cosim
