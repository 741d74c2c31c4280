import { describe, expect, it } from "vitest";
import { isPassing } from "./errors.ts";

describe("isPassing", () => {
  it.each([
    ["a full disk of SQLite", { code: "ERR_SQLITE_ERROR", errcode: 13 }],
    ["a disk error of SQLite", { code: "ERR_SQLITE_ERROR", errcode: 778 }],
    ["a full disk of MySQL", { errno: 1021, code: "ER_DISK_FULL" }],
    ["a full table of MySQL", { errno: 1114, code: "ER_RECORD_FILE_FULL" }],
    ["a lost connection of MySQL", { errno: -104, code: "ECONNRESET" }],
    ["a connection that the server closed", { code: "PROTOCOL_CONNECTION_LOST" }],
    ["a full disk of PostgreSQL", { code: "53100" }],
    ["a shutdown of PostgreSQL", { code: "57P01" }],
    ["a lost connection that is used", new Error("Client has encountered a connection error and is not queryable")],
    ["a connection that PostgreSQL ended", new Error("Connection terminated unexpectedly")],
  ])("%s passes", (_, error) => {
    expect(isPassing(error)).toBe(true);
  });

  it.each([
    ["a value that is too long", { errno: 1406, code: "ER_DATA_TOO_LONG" }],
    ["a text that PostgreSQL cannot store", { code: "22021" }],
    ["a constraint of SQLite", { code: "ERR_SQLITE_ERROR", errcode: 275 }],
    ["words that no list knows", new Error("the packet is too large")],
  ])("%s stays", (_, error) => {
    expect(isPassing(error)).toBe(false);
  });
});
