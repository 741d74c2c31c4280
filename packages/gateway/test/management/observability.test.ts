import { describe, expect, it } from "vitest";
import { useRelay } from "../kit/relay-app.ts";

const relay = useRelay();

describe("what operators see", () => {
  it("counts calls of the management API by route, never by parameters", async () => {
    const { url, adminUrl, root } = relay.gateway;
    await root.must("GET", "/api/status");
    await fetch(`${url}/api/user/987654`);
    await fetch(`${url}/api/no-such-path/987654`);
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/fairway_http_requests_total\{route="\/api\/status",method="GET",code="200"\} \d+/);
    expect(metrics).toContain('route="unknown",method="other",code="404"');
    expect(metrics).not.toContain("987654");
  });

  it("logs a model without a price as a warning, not as an internal error", async () => {
    await relay.gateway.option("SelfUseModeEnabled", false);
    await relay.gateway.channel("never-priced-model");
    const response = await relay.ask("never-priced-model");
    await relay.gateway.option("SelfUseModeEnabled", true);
    expect(response.status).toBe(500);
    const text = relay.gateway.logLines();
    const line = text.split("\n").find((candidate) => candidate.includes("model_price_error")) ?? "";
    expect(JSON.parse(line)).toMatchObject({ level: "warn", message: "relay refused", model: "never-priced-model" });
    expect(line).not.toContain("stack");
  });
});
