import { describe, expect, it } from "vitest";
import { loadEnv } from "./env.ts";

const read = (source: Readonly<Record<string, string>>) => {
  const { httpsProxy, httpProxy, noProxy } = loadEnv(source);
  return [httpsProxy?.reveal(), httpProxy?.reveal(), noProxy.map(({ text }) => text).join(",")];
};

describe("variables of outgoing connections", () => {
  it("are also known by the names that other programs read, in either case", () => {
    const bare = { HTTPS_PROXY: "http://a:1", HTTP_PROXY: "http://b:2", NO_PROXY: "localhost, .svc" };
    expect(read(bare)).toEqual(["http://a:1/", "http://b:2/", "localhost,.svc"]);
    const small = { https_proxy: "http://c:3", http_proxy: "http://d:4", no_proxy: "10.0.0.0/8" };
    expect(read({ ...bare, ...small })).toEqual(["http://c:3/", "http://d:4/", "10.0.0.0/8"]);
    const own = { FAIRWAY_HTTPS_PROXY: "http://e:5", FAIRWAY_NO_PROXY: "*" };
    expect(read({ ...bare, ...small, ...own })).toEqual(["http://e:5/", "http://d:4/", "*"]);
    expect(read({})).toEqual([undefined, undefined, ""]);
  });

  it("may lack the scheme of the proxy, and have a login", () => {
    expect(read({ HTTPS_PROXY: "proxy.example:3128" })[0]).toBe("http://proxy.example:3128/");
    expect(read({ FAIRWAY_HTTPS_PROXY: "http://u:p%40@proxy.example" })[0]).toBe("http://u:p%40@proxy.example/");
  });

  it.each(["socks5://proxy:1080", "http://proxy/path", "ftp://proxy", "http://"])("%s is no proxy", (address) => {
    expect(() => loadEnv({ HTTPS_PROXY: address })).toThrow(
      "HTTPS_PROXY cannot be used: give the address of an HTTP proxy",
    );
  });

  it("name an exception that is none", () => {
    expect(() => loadEnv({ NO_PROXY: "a.example,10.*" })).toThrow(
      "give hosts, suffixes, addresses or networks separated by commas; 10.* is none of them",
    );
  });
});
