// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/protocol_monitor/captured_run.hpp"

#include <array>
#include <filesystem>

#include "fabric/capture_file.hpp"
#include "fabric/codec.hpp"
#include "script.hpp"

namespace hcasim::monitor {
namespace {

constexpr std::uint32_t kQpns[] = {0x10, 0x20};

// A capture of two nodes, 10.0.0.1 and 10.0.0.2, with a queue pair each.
class CapturedRunTest : public ::testing::Test {
 protected:
  CapturedRunTest() {
    for (std::uint32_t port = 0; port < 2; ++port) {
      monitor_.add_port();
      MonitoredQp qp = Script::qp();
      qp.qpn = kQpns[port];
      qp.remote_qpn = kQpns[1 - port];
      qp.sq_psn = port == 0 ? kSq : kRq;
      qp.rq_psn = port == 0 ? kRq : kSq;
      monitor_.add(port, qp);
    }
  }
  ~CapturedRunTest() override { std::filesystem::remove(file_); }

  static hw::Gid address(std::uint32_t port) {
    return {0, 0, 0,    0,    0,  0, 0, 0,
            0, 0, 0xff, 0xff, 10, 0, 0, static_cast<std::uint8_t>(1 + port)};
  }
  void write(hw::Time at, std::uint32_t from, fabric::PacketHeaders headers,
             std::size_t bytes = 0) {
    headers.address.src_gid = address(from);
    headers.address.dst_gid = address(1 - from);
    headers.dest_qp = kQpns[1 - from];
    packet_->set_headers(headers);
    packet_->resize_payload(bytes);
    const std::size_t length = fabric::encode_frame(*packet_, frame_);
    writer_.write(at, {frame_.data(), length});
  }
  Rules show() {
    writer_.close();
    const CapturedRun run(file_);
    EXPECT_EQ(run.ports(), 2u);
    EXPECT_EQ(run.queue_pairs(0), std::vector<std::uint32_t>{0x10});
    EXPECT_EQ(run.queue_pairs(1), std::vector<std::uint32_t>{0x20});
    run.show(monitor_, {});
    EXPECT_EQ(monitor_.packets(), run.packets());
    Rules names;
    for (const Violation& found : monitor_.violations().kept()) {
      names.emplace_back(name_of(found.rule));
    }
    return names;
  }

  std::filesystem::path file_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("hcasim_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  fabric::CaptureWriter writer_{file_};
  std::unique_ptr<fabric::Packet> packet_ = std::make_unique<fabric::Packet>();
  std::array<std::uint8_t, fabric::kMaxFrameBytes> frame_;
  ProtocolMonitor monitor_{{.reaction = 0}};
};

// 74 bytes and 24 of Ethernet: 7.84 ns, and 310 ns on the way.
TEST_F(CapturedRunTest, AnAckFollowsItsRequest) {
  write(1000 * hw::kNanosecond, 0, Script::remote(Op::kRcWriteOnly, kSq, 0));
  write(1319 * hw::kNanosecond, 1, Script::ack(kSq, 1));
  EXPECT_EQ(show(), kSilent);
}

TEST_F(CapturedRunTest, AnAckIsNotAheadOfItsRequest) {
  write(1000 * hw::kNanosecond, 0, Script::remote(Op::kRcWriteOnly, kSq, 0));
  write(1316 * hw::kNanosecond, 1, Script::ack(kSq, 1));
  EXPECT_EQ(show(), Rules{"ack-arrived"});
}

TEST_F(CapturedRunTest, BothSidesAreJudged) {
  write(1000 * hw::kNanosecond, 0, Script::remote(Op::kRcWriteOnly, kSq + 1, 0));
  write(1000 * hw::kNanosecond, 1, Script::remote(Op::kRcWriteOnly, kRq, 0));
  write(5000 * hw::kNanosecond, 1, Script::remote(Op::kRcWriteOnly, kRq, 0));
  EXPECT_EQ(show(), (Rules{"psn-order", "repeat-cause"}));
}

}  // namespace
}  // namespace hcasim::monitor
