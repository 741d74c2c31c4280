import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { FormScanner } from "./form-scanner.ts";

const FORM = Buffer.from(
  [
    "--b",
    'Content-Disposition: form-data; name="model"',
    "",
    "whisper-1",
    "--b",
    'content-disposition: form-data; name="file"; filename="a b.wav"',
    "Content-Type: audio/wav",
    "",
    "\r\n--not\r\n--b not the end",
    "--b",
    'Content-Disposition: form-data; name="prompt"',
    "",
    "",
    "--b--",
    "",
  ].join("\r\n"),
);

function scan(form: Buffer, size: number) {
  const scanner = new FormScanner("b", { maxFileBytes: 1_000 });
  for (let at = 0; at < form.length; at += size) scanner.write(form.subarray(at, at + size));
  scanner.end();
  return scanner.parts.map(({ name, filename, start, end, value }) => ({
    name,
    filename,
    text: form.toString("utf8", start, end),
    value: value.toString("utf8"),
  }));
}

describe("form scanner", () => {
  it("finds the same parts however the body is split", () => {
    const body = "\r\n--not\r\n--b";
    const form = Buffer.from(FORM.toString().replace("\r\n--b not the end", ""));
    const expected = [
      { name: "model", filename: undefined, text: "whisper-1", value: "whisper-1" },
      { name: "file", filename: "a b.wav", text: body.slice(0, -5), value: body.slice(0, -5) },
      { name: "prompt", filename: undefined, text: "", value: "" },
    ];
    for (let size = 1; size <= form.length; size++) expect(scan(form, size)).toEqual(expected);
  });

  it("refuses a boundary in the middle of a line", () => {
    expect(() => scan(FORM, 7)).toThrow(/not followed by a line end/);
  });

  it("refuses files beyond the limit while they arrive", () => {
    const scanner = new FormScanner("b", { maxFileBytes: 10 });
    scanner.write(Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'));
    expect(() => scanner.write(Buffer.alloc(200))).toThrow(/exceeds 10 bytes/);
  });
});

describe("uploads", () => {
  it("of 20 MB hold less than 2 MB", { timeout: 90_000 }, async () => {
    const script = fileURLToPath(new URL("../../../test/processes/upload-memory.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script]);
    const { held, size } = JSON.parse(stdout) as { held: number; size: number };
    expect(size).toBeGreaterThan(20 * 1024 * 1024);
    expect(held).toBeLessThan(2 * 1024 * 1024);
  });
});
