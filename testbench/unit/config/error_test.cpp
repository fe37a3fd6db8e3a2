// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
// Each fault of a configuration gives one line with its place, what is right, and the nearest key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hcasim/sim/config.hpp>
#include <hcasim/sim/input_error.hpp>

#include <functional>
#include <ostream>

namespace hcasim::sim {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string text_error(std::string_view text) {
  return error_of([&] { parse_config(text, "c.toml"); });
}

std::string setting_error(const std::string& setting) {
  return error_of([&] { load_config({.preset = "generic", .file = "", .settings = {setting}}); });
}

struct Case {
  std::string_view name;
  std::string_view text;
  std::string_view error;
};

std::ostream& operator<<(std::ostream& out, const Case& tested) {
  return out << tested.text;
}

class ConfigError : public testing::TestWithParam<Case> {};

TEST_P(ConfigError, IsOneLineWithItsPlace) {
  EXPECT_EQ(text_error(GetParam().text), GetParam().error);
}

constexpr Case kCases[] = {
    {"UnknownKey", "[pcie]\nmps_byte = 256",
     "c.toml:2:1: expected a key of the configuration, found 'pcie.mps_byte'; did you mean "
     "'pcie.mps_bytes'?"},
    {"UnknownTable", "[hca.dorbell]\n  fifo_deph = 1",
     "c.toml:2:3: expected a key of the configuration, found 'hca.dorbell.fifo_deph'; did you mean "
     "'hca.doorbell.fifo_depth'?"},
    {"EmptyUnknownTable", "[hca.dorbell]",
     "c.toml:1:6: expected a key of the configuration, found 'hca.dorbell'; did you mean "
     "'hca.doorbell'?"},
    {"MissingTable", "burst_packets = 4",
     "c.toml:1:1: expected a key of the configuration, found 'burst_packets'; did you mean "
     "'hca.scheduler.burst_packets'?"},
    {"MissingUnit", "[pcie]\npropagation = 4",
     "c.toml:2:1: expected a key of the configuration, found 'pcie.propagation'; did you mean "
     "'pcie.propagation_ns'?"},
    {"NothingNear", "[xyzzy]\nplugh = 4",
     "c.toml:2:1: expected a key of the configuration, found 'xyzzy.plugh'"},
    {"UnknownKeyOfNode", "[node.b.fabric]\nrate_gbp = 4",
     "c.toml:2:1: expected a key of the configuration, found 'node.b.fabric.rate_gbp'; did you "
     "mean 'node.b.fabric.rate_gbps'?"},
    {"BadNodeName", "[node.\"b c\".fabric]\nrate_gbps = 4",
     "c.toml:2:1: expected a node name (a letter or '_', then letters, digits, '_' and '-'), found "
     "'b c'"},
    {"NodeNameOfDigits", "node.7.pcie.tags = 4",
     "c.toml:1:13: expected a node name (a letter or '_', then letters, digits, '_' and '-'), "
     "found "
     "'7'"},
    {"NodeWithoutTables", "node.b = 4",
     "c.toml:1:6: expected a key of the configuration, found 'node.b'"},
    {"NodeIsNoKey", "node = 4", "c.toml:1:1: expected a key of the configuration, found 'node'"},
    {"EmptyKey", "\"\" = 8", "c.toml:1:1: expected a key of the configuration, found '\"\"'"},
    {"EmptyKeyOfNode", "[node.b]\n\"\" = 8",
     "c.toml:2:1: expected a key of the configuration, found 'node.b.\"\"'"},
    {"QuotedKeyIsOnePart", "\"pcie.width\" = 8",
     "c.toml:1:1: expected a key of the configuration, found '\"pcie.width\"'; did you mean "
     "'pcie.width'?"},
    {"TableWithAValue", "pcie = 8",
     "c.toml:1:1: expected a key of the configuration, found 'pcie'"},
    {"QueuesBeyondTheUnit", "[hca.device]\nmax_qp = 16777215",
     "c.toml:2:10: expected hca.device.max_qp and hca.device.max_srq (1024) to be at most 16777216 "
     "together, found '16777215'"},
    {"TextForInteger", "[pcie]\ngeneration = \"four\"",
     "c.toml:2:14: expected pcie.generation to be an integer, 1 to 7, found 'four'"},
    {"NumberForInteger", "[pcie]\ntags = 2.0",
     "c.toml:2:8: expected pcie.tags to be an integer, 1 to 1024, found '2.0'"},
    {"BooleanForNumber", "[fabric]\nrate_gbps = true",
     "c.toml:2:13: expected fabric.rate_gbps to be a number, 0.1 to 1600 Gb/s, found 'true'"},
    {"IntegerForBoolean", "[rvt]\nrdmavt_compat = 1",
     "c.toml:2:17: expected rvt.rdmavt_compat to be true or false, found '1'"},
    {"ListForInteger", "[pcie]\ntags = [1, 2]",
     "c.toml:2:8: expected pcie.tags to be an integer, 1 to 1024, found '[...]'"},
    {"DateForInteger", "[pcie]\ntags = 2020-01-01",
     "c.toml:2:8: expected pcie.tags to be an integer, 1 to 1024, found 'a date or time'"},
    {"TableForInteger", "[pcie.tags]",
     "c.toml:1:1: expected pcie.tags to be an integer, 1 to 1024, found 'a table'"},
    {"AboveRange", "[pcie]\ngeneration = 8",
     "c.toml:2:14: expected pcie.generation to be an integer, 1 to 7, found '8'"},
    {"BelowRange", "[host]\npoll_interval_ns = 0",
     "c.toml:2:20: expected host.poll_interval_ns to be an integer, 1 to 1000000 ns, found '0'"},
    {"Negative", "[host]\nmmio_read_ns = -1",
     "c.toml:2:16: expected host.mmio_read_ns to be an integer, 0 to 1000000 ns, found '-1'"},
    {"PastAnyInteger", "[host]\nmmio_read_ns = 4294967297",
     "c.toml:2:16: expected host.mmio_read_ns to be an integer, 0 to 1000000 ns, found "
     "'4294967297'"},
    {"UnknownWord", "[fabric]\ntopology = 'ring'",
     "c.toml:2:12: expected fabric.topology to be \"auto\" or \"switch\", found 'ring'"},
    {"NumberForWord", "[fabric]\ntopology = 1",
     "c.toml:2:12: expected fabric.topology to be \"auto\" or \"switch\", found '1'"},
    {"MarksAboveAll", "[fabric.switch]\nk_min_bytes = 200001",
     "c.toml:2:15: expected fabric.switch.k_min_bytes to be at most fabric.switch.k_max_bytes "
     "(200000), found '200001'"},
    {"NotANumber", "[fabric]\nrate_gbps = nan",
     "c.toml:2:13: expected fabric.rate_gbps to be a number, 0.1 to 1600 Gb/s, found 'nan'"},
    {"NoPowerOfTwo", "[pcie]\nmps_bytes = 300",
     "c.toml:2:13: expected pcie.mps_bytes to be an integer, a power of two from 128 to 4096 "
     "bytes, found '300'"},
    {"SourceOfUnknownKey", "[sources]\npcie.widht = \"board\"",
     "c.toml:2:6: expected a key of the configuration, found 'sources.pcie.widht'; did you mean "
     "'sources.pcie.width'?"},
    {"SourceThatIsNoText", "[sources]\npcie.width = 3",
     "c.toml:2:14: expected a text that names the source of pcie.width, found '3'"},
    {"UnevenClock", "[hca]\ncore_clock_mhz = 300",
     "c.toml:2:18: expected hca.core_clock_mhz to divide 1000000, so that a cycle is a whole "
     "number of picoseconds (such as 250, 400, 500, 625, 800 or 1000), found '300'"},
    {"DllpsLeaveNoRoom", "[pcie]\nack_limit_bytes = 16",
     "c.toml:2:19: expected pcie.ack_limit_bytes to be 0 or at least 32, found '16'"},
    {"MedianBelowLeast", "[pcie]\nread_latency_median_ns = 100",
     "c.toml:2:26: expected pcie.read_latency_min_ns to be at most pcie.read_latency_median_ns "
     "(100), found '180'"},
    {"MostBelowMedian", "[pcie]\nread_latency_max_ns = 200",
     "c.toml:2:23: expected pcie.read_latency_median_ns to be at most pcie.read_latency_max_ns "
     "(200), found '207'"},
    {"NodeThatDoesNotFit", "[node.b.pcie]\nread_latency_min_ns = 300",
     "c.toml:2:23: expected pcie.read_latency_min_ns to be at most pcie.read_latency_median_ns "
     "(207), found '300'"},
};

INSTANTIATE_TEST_SUITE_P(Texts, ConfigError, testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(ConfigErrorToml, SyntaxErrorsCarryLineAndColumn) {
  EXPECT_THAT(text_error("[pcie]\ntags = = 3\n"), testing::StartsWith("c.toml:2:8: expected TOML"));
  EXPECT_THAT(text_error("[pcie\n"), testing::StartsWith("c.toml:1:6: expected TOML"));
  EXPECT_THAT(text_error("[pcie]\ntags = 1\ntags = 2\n"), testing::StartsWith("c.toml:3:"));
  EXPECT_THAT(text_error("\x01\x02garbage"), testing::StartsWith("c.toml:1:1: expected TOML"));
  EXPECT_THAT(text_error("tags = \"\xff\""), testing::StartsWith("c.toml:1:"));
}

// The parser goes down a dotted key by recursion.
TEST(ConfigErrorToml, KeysOfVeryManyPartsAreRefused) {
  std::string key = "a";
  for (int i = 1; i < 100'000; ++i) key += i % 2 == 0 ? ".a" : ".'a'";
  for (const std::string& text :
       {key + " = 1", "[" + key + "]", "[[" + key + "]]", "x = {" + key + " = 1}", key,
        "# a.a\ns = \"\"\"\n\\\"a.\"\"\"\n" + key + " = 1"}) {
    EXPECT_THAT(text_error(text), testing::HasSubstr("expected a key of at most 16 parts"));
  }
}

TEST(ConfigErrorToml, PointsInTextsAndCommentsAreNoKeys) {
  const std::string points(100, '.');
  for (const std::string& value :
       {"\"" + points + "\"", "'" + points + "'", "\"\"\"\n" + points + "\"\"\"",
        "'''\n" + points + "'''", "\"x\" # " + points, "\"\\\"" + points + "\""}) {
    EXPECT_EQ(text_error("[sources]\npcie.width = " + value), "no error") << value;
  }
}

TEST(ConfigErrorToml, IsOneLine) {
  for (const std::string_view text :
       {"[pcie]\ntags = = 3\n", "a\nb\n", "x = \"\n\"", "[", "\r\r"}) {
    EXPECT_EQ(text_error(text).find('\n'), std::string::npos) << text_error(text);
  }
}

TEST(ConfigErrorSetting, NamesTheSetting) {
  EXPECT_EQ(setting_error("pcie.generation=9"),
            "--set pcie.generation: expected pcie.generation to be an integer, 1 to 7, found '9'");
  EXPECT_EQ(setting_error("mps_bytes=512"),
            "--set mps_bytes: expected a key of the configuration, found 'mps_bytes'; did you mean "
            "'pcie.mps_bytes'?");
  EXPECT_EQ(setting_error("pcie.tags="),
            "--set pcie.tags: expected pcie.tags to be an integer, 1 to 1024, found 'an empty "
            "text'");
  EXPECT_EQ(setting_error("pcie.tags"), "--set: expected KEY=VALUE, found 'pcie.tags'");
  EXPECT_EQ(setting_error("=3"), "--set: expected KEY=VALUE, found '=3'");
  EXPECT_EQ(setting_error(""), "--set: expected KEY=VALUE, found 'nothing'");
  EXPECT_THAT(setting_error("..=3"), testing::HasSubstr("expected a key of the configuration"));
  EXPECT_THAT(setting_error("node..pcie.tags=3"), testing::HasSubstr("expected a node name"));
}

TEST(ConfigErrorFile, SaysWhyItCannotBeRead) {
  const auto file_error = [](const std::string& path) {
    return error_of([&] { load_config({.preset = "generic", .file = path, .settings = {}}); });
  };
  EXPECT_EQ(file_error("/no/such.toml"),
            "/no/such.toml: expected a readable file, found 'No such file or directory'");
  EXPECT_EQ(file_error("/"), "/: expected a readable file, found 'Is a directory'");
  EXPECT_EQ(file_error("/dev/zero"),
            "/dev/zero: expected a configuration of at most 16 MiB, found 'a larger file'");
}

TEST(ConfigErrorPreset, NamesTheNearest) {
  EXPECT_THAT(error_of([] { load_config({.preset = "genric", .file = "", .settings = {}}); }),
              testing::HasSubstr("found 'genric'; did you mean 'generic'?"));
}

}  // namespace
}  // namespace hcasim::sim
