import { startHttpProxy, type HttpProxy } from "@fairway/testkit/http-proxy";
import { createCertificates, type Certificates } from "@fairway/testkit/services/certificates";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { trustAuthorities } from "./authorities.ts";
import { createGuardedFetcher } from "./guarded-fetch.ts";
import { checkBehindProxy, createServiceAgent, type Network } from "./network.ts";
import { createOutbound, SERVICE_GUARD } from "./outbound.ts";

const PUBLIC = "93.184.216.34";
const trusted = getCACertificates("default");
let own: Certificates;
let foreign: Certificates;
let server: Server;
let proxy: HttpProxy;
let network: Network & { generation: number };

beforeAll(async () => {
  [own, foreign] = await Promise.all([createCertificates(2, ["files.example"]), createCertificates()]);
  server = createServer({ cert: await readFile(own.cert), key: await readFile(own.key) }, (request, response) =>
    response.end(JSON.stringify({ host: request.headers.host })),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  proxy = await startHttpProxy({ routes: { [`${PUBLIC}:443`]: port, "files.example:443": port } });
  network = { findProxy: () => `http://127.0.0.1:${proxy.port}`, generation: 0 };
});
afterAll(async () => {
  setDefaultCACertificates(trusted);
  server.closeAllConnections();
  server.close();
  await proxy.stop();
  for (const { ca } of [own, foreign]) await rm(dirname(ca), { recursive: true });
});

describe("a file of authorities", () => {
  it("is trusted by new connections, read again, and retained while it is broken", async () => {
    const file = join(dirname(own.ca), "bundle.pem");
    await copyFile(foreign.ca, file);
    const authorities = trustAuthorities(file);
    const outbound = createOutbound(network);
    const call = () => outbound.json({ method: "GET", url: "https://files.example/" });
    expect(authorities.refresh()).toBe(false);
    await expect(call()).rejects.toThrow(/certificate/);
    await writeFile(file, `# two of them\n${await readFile(foreign.ca, "utf8")}\n${await readFile(own.ca, "utf8")}`);
    expect([authorities.refresh(), authorities.count]).toEqual([true, 2]);
    expect(await call()).toEqual({ host: "files.example" });
    await writeFile(file, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----");
    expect(() => authorities.refresh()).toThrow("its certificate 1 is broken");
    await writeFile(file, "");
    expect(() => authorities.refresh()).toThrow("contains no certificate");
    expect([authorities.count, await call()]).toEqual([2, { host: "files.example" }]);
    await copyFile(foreign.ca, file);
    expect([authorities.refresh(), authorities.count]).toEqual([true, 1]);
    network.generation += 1;
    await expect(call()).rejects.toThrow(/certificate/);
    await copyFile(own.ca, file);
    authorities.refresh();
    await outbound.close();
  });
});

describe("behind a proxy", () => {
  // @weakness Network: A proxy resolves the name of a client's file to another address than the one that was checked
  it("the files of clients are asked for by their checked address, with the certificate of their name", async () => {
    const fetcher = createGuardedFetcher({
      network,
      resolve: (name, done) => done(null, [name === "files.example" ? PUBLIC : "10.0.0.1"]),
    });
    const { body } = await fetcher.fetch({ url: "https://files.example/a.png" });
    const parts: Buffer[] = [];
    for await (const part of body) parts.push(part);
    expect(JSON.parse(Buffer.concat(parts).toString())).toEqual({ host: "files.example" });
    expect(proxy.asked.at(-1)).toBe(`CONNECT ${PUBLIC}:443`);
    const before = proxy.asked.length;
    await expect(fetcher.fetch({ url: "https://inside.example/" })).rejects.toMatchObject({
      code: "file_fetch_failed",
    });
    await expect(fetcher.fetch({ url: "https://10.0.0.1/" })).rejects.toMatchObject({ code: "unsafe_url" });
    expect(proxy.asked.length).toBe(before);
    await fetcher.close();
  });

  it("a name is refused for the addresses that it has here, and passes if only the proxy knows it", async () => {
    const check = (name: string, error: Error | null) =>
      checkBehindProxy(new URL(`https://${name}/`), {
        ...SERVICE_GUARD,
        lookup: (_name, _options, done) => done(error, "", 0),
      });
    const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND"), { syscall: "getaddrinfo" });
    await expect(check("outside.example", unknown)).resolves.toBeUndefined();
    await expect(check("known.example", null)).resolves.toBeUndefined();
    await expect(check("bad.example", new Error("the address is not allowed"))).rejects.toThrow("not allowed");
    await expect(check("169.254.169.254", null)).rejects.toThrow("not allowed");
    await expect(check("[fe80::1]", null)).rejects.toThrow("not allowed");
  });

  it("no connection to the proxy is opened for what the guard refuses", async () => {
    const refusing = {
      refuse: () => {
        throw new Error("refused here");
      },
    };
    const agent = createServiceAgent({ network, guard: refusing });
    const before = proxy.asked.length;
    for (const origin of ["https://files.example", "http://files.example"])
      await expect(agent.current().request({ origin, path: "/", method: "GET" })).rejects.toThrow("refused here");
    expect(proxy.asked.length).toBe(before);
    await agent.close();
  });
});
