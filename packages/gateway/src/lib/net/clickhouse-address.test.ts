import { describe, expect, it } from "vitest";
import { readClickhouseAddress } from "./clickhouse-address.ts";

describe("the address of ClickHouse", () => {
  it("has the usual port, account and scheme where it names none", () => {
    expect(readClickhouseAddress("clickhouse://ch/fairway")).toEqual({
      origin: "http://ch:8123",
      username: "default",
      password: "",
      database: "fairway",
    });
  });

  it("decodes account and password, and has the other port with TLS", () => {
    expect(readClickhouseAddress("clickhouse://fair%40way:p%2Fw@[::1]/logs?tls=true")).toEqual({
      origin: "https://[::1]:8443",
      username: "fair@way",
      password: "p/w",
      database: "logs",
    });
    expect(readClickhouseAddress("clickhouse://a:b@ch:9443/logs?tls=true").origin).toBe("https://ch:9443");
  });

  it.each([
    ["clickhouse://ch", "8123/name"],
    ["clickhouse://ch/", "8123/name"],
    ["clickhouse://ch/a/b", "8123/name"],
    ["clickhouse:ch", "8123/name"],
    ["http://ch/fairway", "8123/name"],
    ["clickhouse://ch/fairway?secure=true", "its parameter secure is none"],
    ["clickhouse://ch/fairway?tls=yes", "its parameter tls is true or false"],
  ])("refuses %s", (url, reason) => {
    expect(() => readClickhouseAddress(url)).toThrow(reason);
  });
});
