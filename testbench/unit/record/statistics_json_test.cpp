// SPDX-FileCopyrightText: hcasim contributors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "pair.hpp"
#include "sim/record/json_writer.hpp"
#include "sim/record/statistics_json.hpp"
#include "sim/record/text.hpp"

namespace hcasim::sim::test {
namespace {

std::string decimal(std::int64_t parts, Decimals decimals) {
  std::string text;
  append_decimal(text, parts, decimals);
  return text;
}

TEST(Text, DecimalsAreExactAndShort) {
  EXPECT_EQ(decimal(0, Decimals::kThree), "0");
  EXPECT_EQ(decimal(1, Decimals::kThree), "0.001");
  EXPECT_EQ(decimal(1500, Decimals::kThree), "1.5");
  EXPECT_EQ(decimal(1'000'010, Decimals::kThree), "1000.01");
  EXPECT_EQ(decimal(-1, Decimals::kThree), "-0.001");
  EXPECT_EQ(decimal(-2000, Decimals::kThree), "-2");
  EXPECT_EQ(decimal(42, Decimals::kNone), "42");
  EXPECT_EQ(decimal(hw::kNever, Decimals::kThree), "9223372036854775.807");
}

RunStatistics some_run() {
  Pair pair;
  pair.receive_posted(0);
  const std::uint64_t message = pair.post(WrOpcode::kSend, 1000, 100);
  pair.received(message, 500);
  pair.send_cqe(message, 800);
  pair.receive_polled(1000, 630);
  pair.a.send_polled(Pair::kQpA, 0, WcStatus::kSuccess, Pair::at(900) + 125);
  pair.post(WrOpcode::kRdmaRead, 1, 600);
  pair.send_polled(1, 700, WcStatus::kRemAccessErr);
  pair.post(WrOpcode::kRdmaRead, 1, 600);
  pair.send_polled(2, 700, WcStatus::kWrFlushErr);
  RunStatistics statistics = pair.close(1000);
  statistics.seed = 7;
  statistics.utilisation = {{"a", "wire", 0.5}, {"b", "wire", 1.0 / 3}, {"a", "pcie_up", 1}};
  statistics.counters = {{"a", "requester", "packets", 2},
                         {"b", "responder", "rx_send_requests", 1},
                         {"a", "requester", "messages", 1},
                         {"a", "event", "events", 18'446'744'073'709'551'615u}};
  return statistics;
}

TEST(StatisticsJson, WholeText) {
  const std::string expected = R"({
  "messages_completed": 1,
  "messages_failed": 1,
  "messages_flushed": 1,
  "messages_unfinished": 0,
  "bytes_delivered": 1000,
  "sim_time_ns": 1000,
  "partial": false,
  "seed": 7,
  "latency_ns": {
    "min": 800.125,
    "mean": 800.125,
    "p50": 800.125,
    "p99": 800.125,
    "p999": 800.125,
    "max": 800.125
  },
  "throughput": {
    "active_ns": 800.125,
    "bytes_per_second": 1249804718,
    "messages_per_second": 1249805
  },
  "by_node": {
    "a": {
      "SEND": {
        "messages_completed": 1,
        "messages_failed": 0,
        "messages_flushed": 0,
        "messages_unfinished": 0,
        "bytes_delivered": 1000,
        "errors": {},
        "latency_ns": {
          "min": 800.125,
          "mean": 800.125,
          "p50": 800.125,
          "p99": 800.125,
          "p999": 800.125,
          "max": 800.125
        }
      },
      "RDMA_READ": {
        "messages_completed": 0,
        "messages_failed": 1,
        "messages_flushed": 1,
        "messages_unfinished": 0,
        "bytes_delivered": 0,
        "errors": {
          "REM_ACCESS_ERR": 1
        },
        "latency_ns": {
          "min": null,
          "mean": null,
          "p50": null,
          "p99": null,
          "p999": null,
          "max": null
        }
      }
    },
    "b": {}
  },
  "receives": {
    "a": {
      "completed": 0,
      "failed": 0,
      "flushed": 0,
      "bytes": 0
    },
    "b": {
      "completed": 1,
      "failed": 0,
      "flushed": 0,
      "bytes": 1000
    }
  },
  "local_operations": {
    "a": {
      "completed": 0,
      "not_completed": 0
    },
    "b": {
      "completed": 0,
      "not_completed": 0
    }
  },
  "occupancy": {
    "a": {
      "receive_queue": {
        "mean": 0,
        "p99": 0,
        "max": 0,
        "empty_share": 1
      },
      "send_queue": {
        "mean": 1,
        "p99": 3,
        "max": 3,
        "empty_share": 0.199875
      },
      "completion_queue": {
        "mean": 0.1,
        "p99": 1,
        "max": 1,
        "empty_share": 0.899875
      }
    },
    "b": {
      "receive_queue": {
        "mean": 0.63,
        "p99": 1,
        "max": 1,
        "empty_share": 0.37
      },
      "send_queue": {
        "mean": 0,
        "p99": 0,
        "max": 0,
        "empty_share": 1
      },
      "completion_queue": {
        "mean": 0.1,
        "p99": 1,
        "max": 1,
        "empty_share": 0.9
      }
    }
  },
  "utilisation": {
    "a": {
      "wire": 0.5,
      "pcie_up": 1
    },
    "b": {
      "wire": 0.333333
    }
  },
  "counters": {
    "a": {
      "requester": {
        "packets": 2,
        "messages": 1
      },
      "event": {
        "events": 18446744073709551615
      }
    },
    "b": {
      "responder": {
        "rx_send_requests": 1
      }
    }
  }
}
)";
  EXPECT_EQ(to_json(some_run()), expected);
  EXPECT_EQ(to_json(some_run()), to_json(some_run()));
}

TEST(StatisticsJson, ShortTextHasTheSettledKeysAndNoMore) {
  const auto json = nlohmann::ordered_json::parse(to_short_json(some_run()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"messages_completed", "messages_failed", "bytes_delivered",
                                      "sim_time_ns", "latency_ns", "counters"}));
  EXPECT_EQ(json["messages_failed"], 1);
  EXPECT_EQ(json["latency_ns"].size(), 4u);
  EXPECT_EQ(json["latency_ns"]["p50"], 800.125);
  EXPECT_EQ(json["counters"]["a"]["requester"]["packets"], 2);
}

TEST(StatisticsJson, AnEmptyRunIsStillWellFormed) {
  const auto json = nlohmann::json::parse(to_json({}));
  EXPECT_TRUE(json["latency_ns"]["p99"].is_null());
  EXPECT_TRUE(json["by_node"].empty());
  EXPECT_EQ(json["throughput"]["bytes_per_second"], 0);
  EXPECT_TRUE(nlohmann::json::parse(to_short_json({}))["latency_ns"]["min"].is_null());
}

TEST(JsonWriter, AnyNameIsWrittenSoThatItReadsBack) {
  const std::string name = "quote \" slash \\ line \n bell \a \xc3\xa9";
  JsonWriter json;
  json.integer(name, 1);
  json.boolean("no", false);
  const auto parsed = nlohmann::json::parse(json.finish());
  EXPECT_EQ(parsed[name], 1);
  EXPECT_EQ(parsed["no"], false);
}

}  // namespace
}  // namespace hcasim::sim::test
