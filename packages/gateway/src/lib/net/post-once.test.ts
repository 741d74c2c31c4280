import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DIRECT } from "./network.ts";
import { createPoster, type Poster } from "./post-once.ts";

let server: Server;
let url: string;
let calls = 0;
let poster: Poster;
/** What the name server says; each question takes the next answer, the last one stays. */
let answers: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    calls += 1;
    if (request.url === "/hangs") return;
    if (request.url === "/drips") return void response.writeHead(200).write("x");
    if (request.url === "/floods") {
      const flood = () => {
        while (response.write(Buffer.alloc(65_536)));
        response.once("drain", flood);
      };
      response.writeHead(200);
      return flood();
    }
    response.writeHead(302, { location: "/other", "retry-after": "7" }).end("here");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  poster = createPoster({
    network: DIRECT,
    timeoutMs: 300,
    resolve: (_, done) => done(null, [(answers.length > 1 ? answers.shift() : answers[0]) ?? "127.0.0.1"]),
  });
});
afterAll(async () => {
  await poster.close();
  server.closeAllConnections();
  server.close();
});

const post = (address: string, isPublicOnly = false) =>
  poster.post({ url: address, headers: { "content-type": "application/json" }, body: "{}", isPublicOnly });

describe("an address of the operator", () => {
  test("may be on this machine; a redirect is an answer and not followed", async () => {
    const before = calls;
    expect(await post(url)).toEqual({ status: 302, text: "here", retryAfter: "7" });
    expect(calls).toBe(before + 1);
  });

  test("of a metadata service is refused, by text and by its other forms", async () => {
    for (const host of ["169.254.169.254", "[::ffff:169.254.169.254]", "2852039166", "metadata.google.internal"])
      await expect(post(`http://${host}/`), host).rejects.toMatchObject({ failure: "refused" });
  });

  test.each(["/hangs", "/drips"])("that %s is given up in time", async (path) => {
    const began = performance.now();
    await expect(post(`${url}${path}`)).rejects.toMatchObject({ failure: "timeout" });
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  test("that floods is read to 4 KiB and dropped", async () => {
    const before = process.memoryUsage().rss;
    const patient = createPoster({ network: DIRECT });
    const flood = { url: `${url}/floods`, headers: {}, body: "", isPublicOnly: false };
    for (let at = 0; at < 20; at += 1) expect((await patient.post(flood)).text).toHaveLength(4_096);
    await patient.close();
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  test("without a server says so", async () => {
    await expect(post("http://127.0.0.1:1/")).rejects.toMatchObject({ failure: "unreachable" });
  });
});

describe("an address of a person", () => {
  test.each([
    "http://example.com/",
    "https://localhost/",
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://10.0.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://100.100.100.200/",
    "https://example.com:8080/",
    "https://user:password@example.com/",
    "https://gateway.svc.cluster.local/",
    "ftp://example.com/",
    "nonsense",
  ])("%s is refused before anything is opened", async (address) => {
    answers = ["93.184.216.34"];
    await expect(post(address, true)).rejects.toMatchObject({ failure: "refused" });
  });

  test.each(["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00:ec2::254", "0.0.0.0"])(
    "whose name leads to %s is refused",
    async (address) => {
      answers = [address];
      const before = calls;
      await expect(post("https://hooks.example/", true)).rejects.toMatchObject({ failure: "refused" });
      expect(calls).toBe(before);
    },
  );

  test("that does not answer looks like one of this network", async () => {
    const listMessages = async (address: string) => {
      answers = [address];
      return post("https://hooks.example/", true).catch((error: Error) => error.message);
    };
    expect(await listMessages("10.1.2.3")).toBe("no connection to a public address");
    const unknown = createPoster({ network: DIRECT, resolve: (_, done) => done(new Error("ENOTFOUND"), []) });
    const asked = unknown.post({ url: "https://unknown.example/", headers: {}, body: "", isPublicOnly: true });
    await expect(asked).rejects.toThrow("no connection to a public address");
    await unknown.close();
  });

  test("whose name is public when it is asked first and private later is never connected to the private one", async () => {
    // The address that was checked is the one that is connected to, so a second answer of the name server has no effect.
    answers = ["203.0.113.1", "127.0.0.1"];
    await expect(post("https://rebinding.example/", true)).rejects.toMatchObject({ name: "PostError" });
    answers = ["127.0.0.1"];
    await expect(post("https://rebinding.example/", true)).rejects.toMatchObject({ failure: "refused" });
  });
});
