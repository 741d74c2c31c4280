import { expect, test } from "vitest";
import { judgeVersion } from "./server-version.ts";

test.each([
  ["10.11.19-MariaDB-0+deb12u1", undefined],
  ["10.4.34-MariaDB-log", "MariaDB 10.4: use 10.5 or newer"],
  ["8.0.36", undefined],
  ["8.4.2-commercial", undefined],
  ["5.7.44-log", "MySQL 5.7: use 8.0 or newer"],
  ["PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc", undefined],
  ["PostgreSQL 18beta1 on x86_64-pc-linux-gnu", undefined],
  ["PostgreSQL 9.6.24 on x86_64-pc-linux-gnu", "PostgreSQL 9.6: use 12.0 or newer"],
  ["CockroachDB CCL v23.1.11", undefined],
  ["", undefined],
])("the server that calls itself %s", (text, problem) => {
  expect(judgeVersion(text)).toBe(problem);
});
