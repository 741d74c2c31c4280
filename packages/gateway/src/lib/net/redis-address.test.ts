import { expect, test } from "vitest";
import { readRedisAddress } from "./redis-address.ts";

const NO_LOGIN = { username: undefined, password: undefined };

test("one server is named by its URL", () => {
  for (const url of ["redis://cache", "rediss://user:p%40ss@cache:6380/3"])
    expect(readRedisAddress(url)).toEqual({ url });
});

test.each([
  [
    "redis+sentinel://a,b:26380,[::1]:5/2?master=main",
    {
      hosts: [
        ["a", 26_379],
        ["b", 26_380],
        ["::1", 5],
      ],
      master: "main",
      db: 2,
      redis: NO_LOGIN,
      sentinel: NO_LOGIN,
    },
  ],
  [
    "redis+sentinel://:p%40s+s@a?sentinel_password=x%26y+z&master=ma%2Fin&sentinel_username=watch",
    {
      hosts: [["a", 26_379]],
      master: "ma/in",
      db: 0,
      redis: { username: undefined, password: "p@s+s" },
      sentinel: { username: "watch", password: "x&y+z" },
    },
  ],
  [
    "rediss+sentinel://app:secret@a/?master=m",
    { hosts: [["a", 26_379]], master: "m", db: 0, redis: { username: "app", password: "secret" }, sentinel: NO_LOGIN },
  ],
])("%s names sentinels", (url, { hosts, ...rest }) => {
  expect(readRedisAddress(url)).toEqual({
    sentinels: { hosts: hosts.map(([host, port]) => ({ host, port })), ...rest, isTls: url.startsWith("rediss") },
  });
});

test("nodes of a cluster are named with the login of all", () => {
  expect(readRedisAddress("rediss+cluster://app:p%40ss@a,[::1]:7001/0")).toEqual({
    cluster: {
      hosts: [
        { host: "a", port: 6379 },
        { host: "::1", port: 7001 },
      ],
      redis: { username: "app", password: "p@ss" },
      isTls: true,
    },
  });
  expect(readRedisAddress("redis+cluster://a:7000")).toEqual({
    cluster: { hosts: [{ host: "a", port: 7000 }], redis: NO_LOGIN, isTls: false },
  });
});

test.each([
  ["redis+cluster://:hidden@", "redis+cluster://:password@host:6379"],
  ["redis+cluster://:hidden@a,,b", "separate the hosts of the nodes"],
  ["redis+cluster://:hidden@a/1", "database 0 only"],
  ["http://:hidden@cache", "give redis://"],
  ["redis+sentinel://:hidden@/0?master=m", "give redis://"],
  ["redis+sentinel://:hidden@a:26379/0", "?master=name"],
  ["redis://:hidden@cache/zero", "number of the database"],
  ["redis://:hidden@cache/-1", "number of the database"],
  ["redis+sentinel://:hidden@a/zero?master=m", "number of the database"],
  ["redis+sentinel://:hidden@a:b/0?master=m", "separate the hosts"],
  ["redis+sentinel://:hidden@a,,b/0?master=m", "separate the hosts"],
  ["redis+sentinel://:hidden@a/0?master=m&password=hidden", "master, sentinel_username, sentinel_password only"],
  ["redis+sentinel://:hidden%@a/0?master=m", "written %25"],
])("%s is refused without showing it", (url, cure) => {
  expect(() => readRedisAddress(url)).toThrow(cure);
  expect(() => readRedisAddress(url)).not.toThrow("hidden");
});
