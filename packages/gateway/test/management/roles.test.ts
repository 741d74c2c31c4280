import { afterEach, describe, expect, it } from "vitest";
import { startGateway, type GatewayProcess } from "@fairway/testkit";

const running: GatewayProcess[] = [];
afterEach(async () => void (await Promise.all(running.splice(0).map((gateway) => gateway.stop()))));

async function start(roles: string): Promise<GatewayProcess> {
  const gateway = await startGateway({ env: { FAIRWAY_ROLES: roles } });
  running.push(gateway);
  return gateway;
}

const fetchStatus = async (gateway: GatewayProcess, path: string) => (await fetch(`${gateway.url}${path}`)).status;

describe("the roles of a process", () => {
  it("a relay serves models, and no management API", async () => {
    const gateway = await start("relay");
    expect(await fetchStatus(gateway, "/v1/models")).toBe(401);
    expect(await fetchStatus(gateway, "/api/status")).toBe(404);
  });

  it("a console serves the management API, and no models", async () => {
    const gateway = await start("console,jobs");
    expect(await fetchStatus(gateway, "/api/status")).toBe(200);
    expect(await fetchStatus(gateway, "/v1/models")).toBe(404);
  });
});
