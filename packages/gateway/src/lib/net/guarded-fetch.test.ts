import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGuardedFetcher, isPublicAddress } from "./guarded-fetch.ts";

let server: Server;
let host = "";
let calls = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    calls++;
    if (request.url === "/away") response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
    else if (request.url === "/round") response.writeHead(302, { location: "/round" }).end();
    else if (request.url === "/large") response.end(Buffer.alloc(2_000));
    else response.end("fine");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

async function text(url: string, trustedHost?: string, maxBytes?: number): Promise<string> {
  const fetcher = createGuardedFetcher();
  try {
    const { body } = await fetcher.fetch({ url, trustedHost, ...(maxBytes === undefined ? {} : { maxBytes }) });
    const parts: Buffer[] = [];
    for await (const part of body) parts.push(part);
    return Buffer.concat(parts).toString("utf8");
  } finally {
    await fetcher.close();
  }
}

describe("guarded fetcher (12.7)", () => {
  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "168.63.129.16",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "240.0.0.1",
    "192.0.2.1",
    "::",
    "::1",
    "fc00::1",
    "fe80::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "::7f00:1",
    "::a9fe:a9fe",
    "nonsense",
  ])("%s is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"])("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::1]/",
    "http://0/",
    "http://localhost/",
    "http://localhost./",
    "http://metadata.google.internal/",
    "file:///etc/passwd",
    "gopher://1.1.1.1/",
    "http://user:pass@1.1.1.1/",
    "http://1.1.1.1:22/",
    "not an address",
  ])("%s is refused", async (url) => {
    await expect(text(url)).rejects.toMatchObject({ code: "unsafe_url" });
  });

  // @weakness Injection and parsing: Addresses that users give lead into the own network
  it("connects to nothing but the addresses that were checked, whatever a second lookup returns", async () => {
    const asked: string[] = [];
    const answers = [["93.184.216.34", "127.0.0.1"], ["127.0.0.1"]];
    const fetcher = createGuardedFetcher({
      resolve: (name, done) => {
        asked.push(name);
        done(null, answers.shift() ?? ["127.0.0.1"]);
      },
    });
    const before = calls;
    await expect(fetcher.fetch({ url: "http://rebinding.example/" })).rejects.toMatchObject({
      code: "file_fetch_failed",
    });
    await expect(fetcher.fetch({ url: "http://rebinding.example/" })).rejects.toMatchObject({
      code: "file_fetch_failed",
    });
    expect([asked.length, calls]).toEqual([2, before]);
    await fetcher.close();
  });

  it("reaches the host that the operator named, and nothing that it sends to", async () => {
    expect(await text(`http://${host}/`, host)).toBe("fine");
    await expect(text(`http://${host}/away`, host)).rejects.toMatchObject({ code: "unsafe_url" });
    await expect(text(`http://${host}/round`, host)).rejects.toMatchObject({ code: "file_fetch_failed" });
    await expect(text(`http://${host}/large`, host, 1_000)).rejects.toMatchObject({ code: "file_fetch_failed" });
  });
});
