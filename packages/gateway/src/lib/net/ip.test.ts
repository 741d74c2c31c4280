import { describe, expect, it } from "vitest";
import { clientAddress, countedAddress, isLoopback, parseAllowList, parseNetwork, plainAddress } from "./ip.ts";

describe("networks", () => {
  it.each([
    ["10.0.0.0/8", "10.255.1.2", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["192.168.1.5", "192.168.1.5", true],
    ["192.168.1.5", "::ffff:192.168.1.5", true],
    ["::ffff:10.0.0.0/104", "10.9.9.9", true],
    ["2001:db8::/32", "2001:db8:1::9", true],
    ["2001:db8::/32", "2001:db9::1", false],
    ["2001:db8::1", "10.0.0.1", false],
    ["0.0.0.0/0", "nonsense", false],
  ])("%s contains %s: %s", (network, address, expected) => {
    expect(parseNetwork(network)?.contains(address)).toBe(expected);
  });

  it.each(["", "10.0", "010.0.0.1/33", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "example.com", "1.2.3.4:80"])(
    "refuses %j",
    (text) => expect(parseNetwork(text)).toBeUndefined(),
  );
});

describe("allow lists", () => {
  it("have no limit when blank", () => {
    expect(parseAllowList(" \r\n\n").networks).toBeUndefined();
    expect(parseAllowList(null).networks).toBeUndefined();
  });

  it("read one entry per line and report the rest", () => {
    const list = parseAllowList(" 10.0.0.0/8,\r\nfoo\n\n2001:db8::1 , \n");
    expect(list.networks).toHaveLength(2);
    expect(list.invalid).toEqual(["foo"]);
  });

  it("deny everything when no line can be read", () => {
    expect(parseAllowList("foo\nbar")).toEqual({ networks: [], invalid: ["foo", "bar"] });
  });
});

describe("client address", () => {
  const trusted = [parseNetwork("10.0.0.0/8")!, parseNetwork("::1")!];

  it("is the peer when no proxy is trusted, whatever the header says", () => {
    expect(clientAddress("::ffff:203.0.113.9", "1.1.1.1", [])).toBe("203.0.113.9");
    expect(clientAddress("203.0.113.9", "1.1.1.1", trusted)).toBe("203.0.113.9");
  });

  it("is the right-most untrusted hop behind trusted proxies", () => {
    expect(clientAddress("10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2", trusted)).toBe("203.0.113.9");
    expect(clientAddress("::1", "[2001:db8::7]:4711", trusted)).toBe("2001:db8::7");
    expect(clientAddress("10.0.0.1", "203.0.113.9:1234", trusted)).toBe("203.0.113.9");
  });

  it("stops at a hop that is no address", () => {
    expect(clientAddress("10.0.0.1", "unknown", trusted)).toBe("10.0.0.1");
    expect(clientAddress("10.0.0.1", undefined, trusted)).toBe("10.0.0.1");
    expect(clientAddress("10.0.0.1", "10.0.0.3", trusted)).toBe("10.0.0.3");
  });
});

describe("plain forms", () => {
  it("fold mapped addresses and zones", () => {
    expect(plainAddress("::ffff:1.2.3.4")).toBe("1.2.3.4");
    expect(plainAddress("fe80::1%eth0")).toBe("fe80::1");
  });

  it("know loopback", () => {
    expect(["127.0.0.1", "::1", "127.3.2.1", "localhost", "::ffff:127.0.0.1"].every(isLoopback)).toBe(true);
    expect(["0.0.0.0", "::", "10.0.0.1", "localhost.example"].some(isLoopback)).toBe(false);
  });
});

describe("whom limits count", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::ffff", "2001:db8:1:2::/64"],
    ["::ffff:203.0.113.7", "::ffff:203.0.113.7"],
    ["", ""],
  ])("%s is %s", (address, counted) => {
    expect(countedAddress(address)).toBe(counted);
  });
});
