import { describe, expect, it } from "vitest";
import { clickhouseLiteral, toClickhousePattern, withLiterals } from "./literal.ts";

describe("a value in a statement of ClickHouse", () => {
  it("ends nowhere but at its end", () => {
    expect(clickhouseLiteral("a'b\\c\0d\n")).toBe("'a\\'b\\\\c\\0d\n'");
    expect(clickhouseLiteral(-5)).toBe("-5");
    expect(clickhouseLiteral(null)).toBe("null");
    expect(() => clickhouseLiteral(new Uint8Array())).toThrow("none of the log");
  });

  it("takes the place of a question mark outside of quotes", () => {
    expect(withLiterals(`select '?' as "?" where a = ? and b = ?`, ["x?", 2])).toBe(
      `select '?' as "?" where a = 'x?' and b = 2`,
    );
  });

  it("is the same pattern with another escape character", () => {
    expect(toClickhousePattern("%a!_b!%c!!d\\e!😀_")).toBe("%a\\_b\\%c!d\\\\e😀_");
  });
});
