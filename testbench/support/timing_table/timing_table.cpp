// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Turns the text of a timing table into inputs and expected outputs, a row a cycle.
#include "support/timing_table/timing_table.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "support/timing_table/timing_item.hpp"
#include "support/timing_table/timing_names.hpp"

namespace hcasim::testbench {

using namespace hw::rq;

namespace {

template <typename T>
void set(T& field, std::uint64_t value) {
  field = static_cast<T>(value);
}

void read_command(TimingItem& item, Inputs& in) {
  in.cmd_valid = true;
  in.cmd.op = static_cast<CommandOp>(item.one_of(kOpNames));
  set(in.cmd.queue, item.number("queue"));
  set(in.cmd.base, item.number_or("base", 0));
  set(in.cmd.size, item.number_or("size", 0));
  set(in.cmd.stride, item.number_or("stride", 0));
  set(in.cmd.head, item.number_or("head", 0));
  set(in.cmd.tail, item.number_or("tail", 0));
  set(in.cmd.limit, item.number_or("limit", 0));
  set(in.cmd.arm, item.number_or("arm", 0));
}

void read_beat(TimingItem& item, Inputs& in) {
  in.dma_rsp_valid = true;
  set(in.dma_rsp.tag, item.number("tag"));
  in.dma_rsp.last = item.flag("last");
  in.dma_rsp.error = item.flag("error");
  in.dma_rsp.data = item.data();
}

void read_take(TimingItem& item, Inputs& in, TakeKind kind) {
  in.take_valid = true;
  in.take.kind = kind;
  set(in.take.queue, item.number("queue"));
  set(in.take.tag, item.number("tag"));
}

void read_hold(TimingItem& item, Inputs& in) {
  if (item.flag("cmd_rsp")) in.cmd_rsp_ready = false;
  if (item.flag("dma_req")) in.dma_req_ready = false;
  if (item.flag("take_rsp")) in.take_rsp_ready = false;
  if (item.flag("event")) in.event_ready = false;
}

void read_input(TimingItem& item, Inputs& in) {
  if (item.port() == "cmd") {
    read_command(item, in);
  } else if (item.port() == "doorbell") {
    in.doorbell_valid = true;
    set(in.doorbell.queue, item.number("queue"));
    set(in.doorbell.head, item.number("head"));
  } else if (item.port() == "dma_rsp") {
    read_beat(item, in);
  } else if (item.port() == "take" || item.port() == "peek") {
    read_take(item, in, item.port() == "take" ? TakeKind::kTake : TakeKind::kPeek);
  } else if (item.port() == "hold") {
    read_hold(item, in);
  } else {
    throw std::runtime_error("expected cmd, doorbell, dma_rsp, take, peek or hold, found " +
                             item.port());
  }
}

void read_command_answer(TimingItem& item, Outputs& out) {
  out.cmd_rsp_valid = true;
  out.cmd_rsp.status = static_cast<CommandStatus>(item.one_of(kCommandStatusNames));
  Snapshot& s = out.cmd_rsp.snapshot;
  s.state = static_cast<QueueState>(item.one_of(kStateNames));
  set(s.size, item.number_or("size", 0));
  set(s.head, item.number_or("head", 0));
  set(s.fetch, item.number_or("fetch", 0));
  set(s.tail, item.number_or("tail", 0));
  set(s.limit, item.number_or("limit", 0));
}

void read_take_beat(TimingItem& item, Outputs& out) {
  out.take_rsp_valid = true;
  set(out.take_rsp.tag, item.number("tag"));
  out.take_rsp.status = static_cast<TakeStatus>(item.one_of(kTakeStatusNames));
  out.take_rsp.last = item.flag("last");
  set(out.take_rsp.slot, item.number_or("slot", 0));
  set(out.take_rsp.remaining, item.number_or("remaining", 0));
  out.take_rsp.wqe = item.data();
}

void read_dma_request(TimingItem& item, Outputs& out) {
  out.dma_req_valid = true;
  set(out.dma_req.tag, item.number("tag"));
  set(out.dma_req.address, item.number("address"));
  set(out.dma_req.bytes, item.number("bytes"));
}

void read_event(TimingItem& item, Outputs& out) {
  out.event_valid = true;
  set(out.event.queue, item.number("queue"));
  out.event.kind = static_cast<EventKind>(item.one_of(kEventNames));
  set(out.event.value, item.number("value"));
}

void read_output(TimingItem& item, Outputs& out) {
  if (item.port() == "cmd_rsp") {
    read_command_answer(item, out);
  } else if (item.port() == "dma_req") {
    read_dma_request(item, out);
  } else if (item.port() == "take_rsp") {
    read_take_beat(item, out);
  } else if (item.port() == "event") {
    read_event(item, out);
  } else if (item.port() == "idle") {
    out.idle = true;
  } else if (item.port() == "busy") {
    out.cmd_ready = !item.flag("cmd");
    out.doorbell_ready = !item.flag("doorbell");
    out.take_ready = !item.flag("take");
  } else {
    throw std::runtime_error("expected cmd_rsp, dma_req, take_rsp, event, idle or busy, found " +
                             item.port());
  }
}

template <typename Ports, typename Read>
void read_items(std::string_view text, Ports& ports, Read read) {
  while (text.find_first_not_of(" \t") != std::string_view::npos) {
    const auto end = std::min(text.find(';'), text.size());
    TimingItem item(text.substr(0, end));
    read(item, ports);
    item.finish();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void read_parameter(std::istringstream& words, Parameters& p) {
  std::string name;
  std::uint32_t value = 0;
  if (!(words >> name >> value)) throw std::runtime_error("expected: param NAME NUMBER");
  const std::map<std::string, std::uint32_t*> fields{
      {"queues", &p.queues}, {"takes", &p.takes}, {"prefetch", &p.prefetch},
      {"tags", &p.tags},     {"lines", &p.lines}, {"fetch_bytes", &p.fetch_bytes},
      {"events", &p.events}};
  const auto field = fields.find(name);
  if (field == fields.end()) throw std::runtime_error("unknown parameter " + name);
  *field->second = value;
}

// "7: inputs => outputs" or "7-9: ..." for several cycles alike.
void read_row(std::string_view line, TimingTable& table) {
  const auto colon = line.find(':');
  const auto arrow = line.find("=>");
  if (colon == std::string_view::npos || arrow == std::string_view::npos || arrow < colon) {
    throw std::runtime_error("expected: CYCLE: inputs => outputs");
  }
  const std::string cycles(line.substr(0, colon));
  const auto dash = cycles.find('-');
  const std::uint64_t first = std::stoull(cycles.substr(0, dash));
  const std::uint64_t last =
      dash == std::string::npos ? first : std::stoull(cycles.substr(dash + 1));
  if (first != table.rows.size() || last < first) {
    throw std::runtime_error("expected cycle " + std::to_string(table.rows.size()));
  }
  TimingRow row;
  row.outputs.idle = false;
  read_items(line.substr(colon + 1, arrow - colon - 1), row.inputs, read_input);
  read_items(line.substr(arrow + 2), row.outputs, read_output);
  for (row.cycle = first; row.cycle <= last; ++row.cycle) table.rows.push_back(row);
}

void read_line(const std::string& line, TimingTable& table) {
  std::istringstream words(line);
  std::string word;
  if (!(words >> word)) return;
  if (word == "title") {
    std::getline(words >> std::ws, table.title);
  } else if (word == "param") {
    read_parameter(words, table.parameters);
  } else {
    read_row(line, table);
  }
}

}  // namespace

TimingTable read_timing_table(std::istream& in, const std::string& name) {
  TimingTable table;
  table.name = name;
  unsigned number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line.resize(std::min(line.find('#'), line.size()));
    try {
      read_line(line, table);
    } catch (const std::exception& error) {
      throw TimingTableError(name + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (table.rows.empty() || table.title.empty() || !valid(table.parameters)) {
    throw TimingTableError(name + ": expected a title, rows, and parameters in range");
  }
  return table;
}

TimingTable load_timing_table(const std::string& name) {
  const auto path = std::filesystem::path(HCASIM_TIMING_TABLES) / (name + ".table");
  std::ifstream file(path);
  if (!file) throw TimingTableError(path.string() + ": cannot be opened");
  return read_timing_table(file, name);
}

std::vector<std::string> timing_table_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(HCASIM_TIMING_TABLES)) {
    if (entry.path().extension() == ".table") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hcasim::testbench
