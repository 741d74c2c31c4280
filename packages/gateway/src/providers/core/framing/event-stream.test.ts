import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { DialectId } from "../../../dialects/core/types.ts";
import { createEventStreamDeframer, FrameReader } from "./event-stream.ts";

function frame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const size = Buffer.alloc(2);
      size.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), size, Buffer.from(value)]);
    }),
  );
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + Buffer.byteLength(payload), 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const body = Buffer.concat([prelude, head, Buffer.from(payload)]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([body, sum]);
}

function read(bytes: Buffer, size: number, dialect: DialectId = "anthropic-messages"): string {
  const deframer = createEventStreamDeframer(dialect, 1 << 20);
  let out = "";
  for (let at = 0; at < bytes.length; at += size) out += deframer.push(bytes.subarray(at, at + size))?.toString() ?? "";
  return out;
}

const packed = (json: string) => JSON.stringify({ bytes: Buffer.from(json).toString("base64"), p: "abc" });

describe("event stream", () => {
  it.each([1, 11, 4096])("unpacks chunks and names exceptions in pieces of %d", (size) => {
    const bytes = Buffer.concat([
      frame({ ":message-type": "event", ":event-type": "chunk" }, packed('{"type":"message_stop"}')),
      frame({ ":message-type": "exception", ":exception-type": "throttlingException" }, '{"message":"slow down"}'),
    ]);
    expect(read(bytes, size)).toBe(
      'event: message_stop\ndata: {"type":"message_stop"}\n\n' +
        'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}\n\n',
    );
  });

  it("keeps the event names of private dialects", () => {
    const bytes = frame({ ":message-type": "event", ":event-type": "messageStop" }, '{"stopReason":"end_turn"}');
    expect(read(bytes, 64, "private:aws-converse")).toBe('event: messageStop\ndata: {"stopReason":"end_turn"}\n\n');
  });

  it("refuses damaged and oversized frames", () => {
    const bytes = frame({ ":message-type": "event" }, "{}");
    bytes[bytes.length - 6] = 0;
    expect(() => read(bytes, 64)).toThrow("damaged");
    expect(() => new FrameReader(10).push(frame({}, "{}"))).toThrow("claims");
  });
});
