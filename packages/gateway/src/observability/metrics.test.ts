import { beforeEach, describe, expect, test } from "vitest";
import { METRICS } from "./metric-definitions.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { wantsOpenMetrics } from "./open-metrics.ts";

let metrics: Metrics;
beforeEach(() => (metrics = createMetrics({ version: "1.2.3", commit: "abc" })));
const lines = async (name: string) => (await metrics.expose()).text.split("\n").filter((line) => line.startsWith(name));

describe("metrics", () => {
  test("say which program they are of", async () => {
    expect(await lines("fairway_build_info")).toEqual([
      `fairway_build_info{version="1.2.3",node="${process.version}",commit="abc"} 1`,
    ]);
    expect((await metrics.expose()).contentType).toContain("text/plain");
  });

  test("show a sampled trace next to the bucket of its request, to a scraper that prefers OpenMetrics", async () => {
    const [traceId, other] = ["4bf92f3577b34da6a3ce929d0e0e4736", "a".repeat(32)];
    metrics.setModels(new Set(["m"]));
    const call = { operation: "chat", model: "m", group: "default", stream: true, outcome: "ok" };
    metrics.relayed({ ...call, seconds: 0.07, traceId });
    metrics.relayed({ ...call, seconds: 0.08 });
    metrics.relayed({ ...call, seconds: 900, traceId: other });
    metrics.firstToken({ operation: "chat", model: "m", seconds: 0.04, traceId });
    const { text, contentType } = await metrics.expose("open");
    expect(contentType).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    const labels = 'endpoint="chat",model="m",stream="true"';
    const shown = text.split("\n").filter((line) => line.includes("trace_id"));
    expect(shown.map((line) => line.replace(/ [\d.]+$/, ""))).toEqual([
      `fairway_relay_duration_seconds_bucket{le="0.1",${labels}} 2 # {trace_id="${traceId}"} 0.07`,
      `fairway_relay_duration_seconds_bucket{le="+Inf",${labels}} 3 # {trace_id="${other}"} 900`,
      `fairway_relay_ttft_seconds_bucket{le="0.05",${labels}} 1 # {trace_id="${traceId}"} 0.04`,
    ]);
    expect(text).toMatch(/# EOF\n$/);
    expect(text).toContain("# TYPE fairway_relay_requests counter\n");
    expect(text).toContain('fairway_relay_requests_total{endpoint="chat",model="m",group="default",outcome="ok"} 3\n');
    const plain = (await metrics.expose()).text;
    expect(plain).not.toContain("trace_id");
    const bare = (one: string) =>
      one
        .split("\n")
        .filter((line) => line.startsWith("fairway_relay"))
        .map((line) => line.split(" # ")[0]);
    expect(bare(plain)).toEqual(bare(text));
  });

  test.each([
    ["application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1", true],
    ["text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.5", false],
    ["application/openmetrics-text;q=0", false],
    ["*/*", false],
    [undefined, false],
  ])("choose the format that a scraper prefers: %s", (accept, isOpen) => {
    expect(wantsOpenMetrics(accept)).toBe(isOpen);
  });

  test("come with those of the process", async () => {
    const { text } = await metrics.expose();
    for (const name of ["nodejs_eventloop_lag_p99_seconds", "nodejs_heap_size_used_bytes", "process_cpu_seconds_total"])
      expect(text).toContain(name);
  });

  test("count relayed requests, tokens and quota by configured models only", async () => {
    metrics.setModels(new Set(["gpt-4o"]));
    for (const model of ["gpt-4o", "made-up-1", "made-up-2"]) {
      metrics.relayed({ operation: "chat", model, group: "default", stream: true, outcome: "ok", seconds: 0.2 });
    }
    metrics.charged({ model: "gpt-4o", group: "default", quota: 42, input: 10, output: 0 });
    metrics.firstToken({ operation: "chat", model: "gpt-4o", seconds: 0.1 });
    expect(await lines("fairway_relay_requests_total")).toEqual([
      'fairway_relay_requests_total{endpoint="chat",model="gpt-4o",group="default",outcome="ok"} 1',
      'fairway_relay_requests_total{endpoint="chat",model="other",group="default",outcome="ok"} 2',
    ]);
    expect(await lines("fairway_relay_tokens_total")).toEqual([
      'fairway_relay_tokens_total{model="gpt-4o",direction="input"} 10',
      'fairway_relay_tokens_total{model="gpt-4o",direction="output"} 0',
    ]);
    expect(await lines("fairway_quota_charged_total")).toEqual([
      'fairway_quota_charged_total{model="gpt-4o",group="default"} 42',
    ]);
    expect(await lines("fairway_relay_ttft_seconds_count")).toEqual([
      'fairway_relay_ttft_seconds_count{endpoint="chat",model="gpt-4o",stream="true"} 1',
    ]);
    expect(await lines('fairway_relay_duration_seconds_bucket{le="0.25",endpoint="chat",model="gpt-4o"')).toHaveLength(
      1,
    );
  });

  test("count calls of upstreams, answers, caches and the rest", async () => {
    metrics.attempted({ channel: { id: 7, name: "main", type: "openai" }, outcome: "timeout", seconds: 3 });
    metrics.answered({ route: "/api/user/", method: "GET", code: 200, seconds: 0.004 });
    metrics.cacheAsked("token", true);
    metrics.cacheAsked("token", false);
    metrics.settlementFailed(true);
    metrics.leaderChanged();
    metrics.drainAborted(3);
    metrics.jobSucceeded("log-prune", 1_700_000_000);
    metrics.dependency({ name: "database", isUp: false, seconds: 0.1 });
    const { text } = await metrics.expose();
    for (const line of [
      'fairway_upstream_attempts_total{channel_id="7",channel_name="main",channel_type="openai",outcome="timeout"} 1',
      'fairway_upstream_duration_seconds_sum{channel_id="7",channel_type="openai"} 3',
      'fairway_http_requests_total{route="/api/user/",method="GET",code="200"} 1',
      'fairway_cache_hits_total{cache="token"} 1',
      'fairway_cache_misses_total{cache="token"} 1',
      'fairway_settlement_failures_total{final="true"} 1',
      "fairway_leader_transitions_total 1",
      "fairway_drain_streams_aborted_total 3",
      'fairway_job_last_success_timestamp_seconds{job="log-prune"} 1700000000',
      'fairway_dependency_up{dependency="database"} 0',
    ]) {
      expect(text).toContain(line);
    }
  });

  test("read gauges at each scrape", async () => {
    let streams = 2;
    metrics.watch({ inflightStreams: () => streams, inflightLimit: () => 100 });
    metrics.watch({ isDraining: () => true });
    streams = 5;
    expect(await lines("fairway_inflight_streams")).toEqual([
      "fairway_inflight_streams 5",
      "fairway_inflight_streams_limit 100",
    ]);
    expect(await lines("fairway_draining")).toEqual(["fairway_draining 1"]);
    expect(await lines("fairway_leader ")).toEqual(["fairway_leader 0"]);
  });

  test("show channels and resources as long as they are there", async () => {
    const channel = {
      id: 1,
      name: "main",
      type: "openai",
      status: 3,
      responseMs: 250,
      balance: 4.5,
      balanceAt: 1_700_000_000,
    };
    metrics.setChannels([channel, { ...channel, id: 2, name: "spare", balanceAt: 0 }]);
    expect(await lines("fairway_channel_status")).toHaveLength(2);
    expect(await lines("fairway_channel_balance_usd")).toEqual([
      'fairway_channel_balance_usd{channel_id="1",channel_name="main",channel_type="openai"} 4.5',
    ]);
    metrics.setChannels([]);
    expect(await lines("fairway_channel_")).toEqual([]);
    const resource = { kind: "Channel", namespace: "ai", name: "main" };
    metrics.resourceSynced({ ...resource, isSynced: false });
    expect(await lines("fairway_gitops")).toEqual([
      'fairway_gitops_resource_synced{kind="Channel",namespace="ai",name="main"} 0',
    ]);
    metrics.resourceGone(resource);
    expect(await lines("fairway_gitops")).toEqual([]);
  });

  test("are all in the table, and the table has no other names", async () => {
    const { text } = await metrics.expose();
    const shown = [...text.matchAll(/^# TYPE (fairway_\w+) (\w+)$/gm)].map((match) => `${match[1]} ${match[2]}`);
    expect(shown.sort()).toEqual(METRICS.map(({ name, type }) => `${name} ${type}`).sort());
  });
});
