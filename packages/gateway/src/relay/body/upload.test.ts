import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { BodyMemory } from "../../limits/body-memory.ts";
import { createSpoolDisk } from "./spool.ts";
import { readUpload } from "./upload.ts";

const KIB = 1_024;
const TRANSCRIPTION = { operation: "audio.transcriptions", dialect: "openai-audio" } as const;

/** A form with a recording of that many bytes. */
function sendForm(bytes: number): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers["content-type"] = "multipart/form-data; boundary=x";
  const part = (head: string, body: string) => `--x\r\ncontent-disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
  const form = part('name="model"', "whisper-1") + part('name="file"; filename="a.mp3"', "a".repeat(bytes));
  request.push(`${form}--x--\r\n`);
  request.push(null);
  return request;
}

describe("the disk that forms share", () => {
  test("a form beyond it gets 503, and the next one is taken when an earlier one has ended", async () => {
    const disk = createSpoolDisk(1_000 * KIB);
    const limits = { minBytesPerSecond: 0, memory: new BodyMemory(0), disk };
    const read = (bytes: number) => readUpload(sendForm(bytes), TRANSCRIPTION, limits);
    const first = await read(600 * KIB);
    await expect(read(600 * KIB)).rejects.toMatchObject({ code: "spool_full", status: 503 });
    const small = await read(10 * KIB);
    await first.dispose();
    await first.dispose();
    const second = await read(600 * KIB);
    await expect(read(600 * KIB)).rejects.toMatchObject({ code: "spool_full" });
    await small.dispose();
    await second.dispose();
    await (await read(990 * KIB)).dispose();
  });
});
