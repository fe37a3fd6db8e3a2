// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Ports as a waveform, and how to look at it.
#include "sim/cosim/waveform.hpp"

#include <cctype>

#include "sim/cosim/port_fields.hpp"
#include "sim/cosim/shrink.hpp"
#include "sim/cosim/wave_file.hpp"

namespace hcasim::sim::cosim {

using namespace hw::rq;

namespace {

constexpr std::size_t kCyclesBefore = 4096;
constexpr hca::Cycle kCyclesBehind = 16;
constexpr unsigned kBeatBits = kBeatBytes * 8;

/// The name of a signal below its side: `take_rsp_valid`; `idle` is alone.
template <typename Ports>
std::string name_of(const PortField<Ports>& field) {
  if (field.port == field.field) return std::string(field.port);
  return std::string(field.port) + "_" + std::string(field.field);
}

std::string scope_of(const std::string& side) {
  std::string name = side;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

std::string digits(std::uint64_t value, unsigned bits) {
  std::string text(bits, '0');
  for (unsigned bit = 0; bit < bits; ++bit) {
    if ((value >> bit & 1U) != 0) text[bits - 1 - bit] = '1';
  }
  return text;
}

std::string digits(const Beat& beat) {
  std::string text;
  for (std::size_t byte = kBeatBytes; byte-- > 0;) text += digits(beat[byte], 8);
  return text;
}

/// The variables of one set of ports, and what each showed last.
template <typename Ports>
class PortWaves {
 public:
  PortWaves(WaveFile& file, std::span<const PortField<Ports>> fields,
            const Beat& (*data)(const Ports&), bool (*has_data)(const Ports&),
            std::string_view data_name)
      : file_(file), fields_(fields), data_(data), has_data_(has_data) {
    for (const auto& field : fields) ids_.push_back(file.variable(name_of(field), field.bits));
    ids_.push_back(file.variable(data_name, kBeatBits));
    shown_.resize(ids_.size());
  }

  // What is a don't-care is shown as x.
  void show(const Ports& ports) {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto& f = fields_[i];
      show(i, f.matters(ports) ? digits(f.value(ports), f.bits) : std::string(f.bits, 'x'));
    }
    show(fields_.size(), has_data_(ports) ? digits(data_(ports)) : std::string(kBeatBits, 'x'));
  }

 private:
  void show(std::size_t index, std::string bits) {
    if (bits == shown_[index]) return;
    file_.change(ids_[index], bits);
    shown_[index] = std::move(bits);
  }

  WaveFile& file_;
  std::span<const PortField<Ports>> fields_;
  const Beat& (*data_)(const Ports&);
  bool (*has_data_)(const Ports&);
  std::vector<std::uint32_t> ids_;
  std::vector<std::string> shown_;
};

}  // namespace

WaveRecorder::WaveRecorder(std::span<const Side> sides, std::size_t cycles)
    : most_(cycles), next_(sides.size()) {
  for (const Side& side : sides) names_.push_back(side.name);
}

void WaveRecorder::cycle(hca::Cycle n, const Inputs& in, const Outputs& now,
                         const hca::ReceiveQueueUnit&, const Scoreboard&) {
  next_[0] = now;
  frames_.push_back({n, in, next_});
  if (frames_.size() > most_) frames_.pop_front();
}

std::string WaveRecorder::waveform() const {
  const std::unique_ptr<WaveFile> file = make_wave_file();
  file->open_scope("bench");
  const std::uint32_t differ = file->variable("differ", 1);
  file->open_scope("inputs");
  PortWaves<Inputs> inputs(
      *file, input_fields(), [](const Inputs& i) -> const Beat& { return i.dma_rsp.data; },
      [](const Inputs& i) { return i.dma_rsp_valid; }, "dma_rsp_data");
  file->close_scope();
  std::vector<PortWaves<Outputs>> outputs;
  for (const std::string& name : names_) {
    file->open_scope(scope_of(name));
    outputs.emplace_back(
        *file, output_fields(), [](const Outputs& o) -> const Beat& { return o.take_rsp.wqe; },
        [](const Outputs& o) { return o.take_rsp_valid; }, "take_rsp_wqe");
    file->close_scope();
  }
  file->close_scope();
  for (const Frame& frame : frames_) {
    file->time(frame.cycle);
    inputs.show(frame.in);
    bool same = true;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].show(frame.outputs[i]);
      same = same && same_ports(frame.outputs[0], frame.outputs[i]);
    }
    file->change(differ, same ? "0" : "1");
  }
  return file->finish();
}

namespace {

std::string signal(const std::string& scope, const std::string& name, unsigned bits) {
  std::string text = bits == 1 ? "@28\n" : "@22\n";
  text += "bench." + scope + "." + name;
  if (bits > 1) text += "[" + std::to_string(bits - 1) + ":0]";
  return text + "\n";
}

/// All signals of one port: its inputs, then each field side by side.
std::string port_group(std::span<const Side> sides, std::string_view port, bool open) {
  std::string text = (open ? "@800200\n-" : "@c00200\n-") + std::string(port) + "\n";
  for (const auto& f : input_fields()) {
    if (f.port == port) text += signal("inputs", name_of(f), f.bits);
  }
  if (port == "dma_rsp") text += signal("inputs", "dma_rsp_data", kBeatBits);
  for (const auto& f : output_fields()) {
    if (f.port != port) continue;
    for (const Side& side : sides) text += signal(scope_of(side.name), name_of(f), f.bits);
  }
  if (port == "take_rsp") {
    for (const Side& side : sides) text += signal(scope_of(side.name), "take_rsp_wqe", kBeatBits);
  }
  return text + (open ? "@1000200\n-" : "@1401200\n-") + std::string(port) + "\n";
}

}  // namespace

std::string gtkwave_save(std::span<const Side> sides, std::string_view waveform, hca::Cycle cycle,
                         std::string_view marked) {
  std::string text = "[*] GTKWave save file\n[dumpfile] \"" + std::string(waveform) + "\"\n";
  text += "[timestart] " + std::to_string(cycle > 30 ? cycle - 30 : 0) + "\n[size] 1600 900\n";
  text += "*-1.000000 " + std::to_string(cycle);
  for (int i = 0; i < 26; ++i) text += " -1";
  text += "\n[treeopen] bench.\n@28\nbench.differ\n";
  constexpr std::string_view kPorts[] = {"cmd",  "cmd_rsp",  "doorbell", "dma_req", "dma_rsp",
                                         "take", "take_rsp", "event",    "idle"};
  for (const std::string_view port : kPorts) {
    if (port == marked) text += port_group(sides, port, true);
  }
  for (const std::string_view port : kPorts) {
    if (port != marked) text += port_group(sides, port, false);
  }
  return text;
}

Waves record_waves(std::span<const Side> sides, const FailingStimulus& failing,
                   std::string_view file_name) {
  WaveRecorder recorder(sides, kCyclesBefore);
  Bench bench(sides, failing.stimulus.parameters, &recorder);
  ListSource source(failing.stimulus.operations);
  bench.run(source, kCyclesBehind);
  return {recorder.waveform(),
          gtkwave_save(sides, file_name, failing.difference.cycle, failing.difference.port())};
}

}  // namespace hcasim::sim::cosim
