import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "./guarded-fetch.ts";
import { isForbiddenHost, refuseForbidden } from "./outbound.ts";

const bytes = (address: string) => address.split(".").map(Number);
const hex = (numbers: readonly number[]) => Buffer.from(numbers).toString("hex");
const groups = (address: string) => [hex(bytes(address)).slice(0, 4), hex(bytes(address)).slice(4)];

/** Ways to write an IPv4 address as an IPv6 address. */
const FORMS: Readonly<Record<string, (address: string) => string>> = {
  mapped: (address) => `::ffff:${address}`,
  "mapped, in hexadecimal": (address) => `::ffff:${groups(address).join(":")}`,
  compatible: (address) => `::${address}`,
  translated: (address) => `::ffff:0:${groups(address).join(":")}`,
  NAT64: (address) => `64:ff9b::${groups(address).join(":")}`,
  "local NAT64, /96": (address) => `64:ff9b:1:2:3:4:${groups(address).join(":")}`,
  "local NAT64, /48": (address) =>
    `64:ff9b:1:${groups(address)[0] ?? ""}:00${hex(bytes(address)).slice(4, 6)}:${hex(bytes(address)).slice(6)}00::`,
  "local NAT64, /56": (address) =>
    `64:ff9b:1:00${hex(bytes(address)).slice(0, 2)}:00${hex(bytes(address)).slice(2, 4)}:${hex(bytes(address)).slice(4)}::`,
  "local NAT64, /64": (address) =>
    `64:ff9b:1::00${hex(bytes(address)).slice(0, 2)}:${hex(bytes(address)).slice(2, 6)}:${hex(bytes(address)).slice(6)}00:0`,
  "6to4": (address) => `2002:${groups(address).join(":")}::1`,
  "server of Teredo": (address) => `2001:0:${groups(address).join(":")}::1`,
  "client of Teredo": (address) =>
    `2001:0:101:101:0:0:${groups(
      bytes(address)
        .map((byte) => byte ^ 255)
        .join("."),
    ).join(":")}`,
  ISATAP: (address) => `2001:db8::5efe:${groups(address).join(":")}`,
};

const METADATA = ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192"];

describe("addresses of metadata services", () => {
  // @weakness Network: A metadata address inside of an IPv6 address passes the check
  it.each(Object.entries(FORMS))("are refused as %s", (_, form) => {
    for (const address of METADATA) {
      expect([form(address), isForbiddenHost(form(address))]).toEqual([form(address), true]);
      expect(isForbiddenHost(new URL(`http://[${form(address)}]/`).hostname)).toBe(true);
      expect(isPublicAddress(form(address))).toBe(false);
    }
  });

  it.each([
    "fd20:ce::254",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "fe80::1",
    "metadata.google.internal",
    "Metadata.Google.Internal.",
    "metadata.goog",
    "metadata",
    "metadata.tencentyun.com",
  ])("%s is refused", (host) => {
    expect(isForbiddenHost(host)).toBe(true);
    expect(() => refuseForbidden(host)).toThrow("is not allowed");
  });

  it.each([
    "10.0.0.1",
    "127.0.0.1",
    "::1",
    "fd12:3456::1",
    "api.openai.com",
    "metadata.example.com",
    "::ffff:10.0.0.1",
  ])("%s is for channels", (host) => {
    expect(isForbiddenHost(host)).toBe(false);
  });

  it("what is private stays private in each form", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("10", "127", "192.168"),
        fc.constantFrom(...Object.keys(FORMS)),
        fc.ipV4(),
        (net, name, tail) => {
          const address = [...net.split("."), ...tail.split(".")].slice(0, 4).join(".");
          expect(isPublicAddress(FORMS[name]!(address))).toBe(false);
        },
      ),
    );
  });
});
