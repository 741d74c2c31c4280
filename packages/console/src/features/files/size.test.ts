import { expect, test } from "vitest";
import { formatSize } from "./size.ts";

test("sizes have one decimal and the unit that fits", () => {
  const sizes = [0, 1023, 1024, 3_000_000, 10 * 1024 ** 3, 5 * 1024 ** 4];
  expect(sizes.map((bytes) => formatSize(bytes, "en"))).toEqual([
    "0 B",
    "1,023 B",
    "1 KiB",
    "2.9 MiB",
    "10 GiB",
    "5 TiB",
  ]);
});
