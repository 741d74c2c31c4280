import { describe, expect, it } from "vitest";
import { createDeframer } from "./framing.ts";

function read(framing: "json-lines" | "text-events", text: string, size: number): string {
  const deframer = createDeframer(framing, "openai-chat", 1 << 20);
  const bytes = Buffer.from(text);
  let out = "";
  for (let at = 0; at < bytes.length; at += size)
    out += deframer?.push(bytes.subarray(at, at + size))?.toString() ?? "";
  return out + (deframer?.end()?.toString() ?? "");
}

describe("createDeframer", () => {
  it("needs nothing for server-sent events", () => {
    expect(createDeframer("sse", "openai-chat", 1)).toBeUndefined();
  });

  it.each([1, 3, 7, 1000])("reads JSON lines in pieces of %d", (size) => {
    expect(read("json-lines", '{"a":"ü"}\r\n\n{"b":2}', size)).toBe('data: {"a":"ü"}\n\ndata: {"b":2}\n\n');
  });

  it.each([1, 3, 7, 1000])("keeps blanks and line breaks of text events in pieces of %d", (size) => {
    const text = 'event:add\nid:t\ndata:\ndata: two\n\nevent:finish\ndata:\nmeta:{"usage":{"total_tokens":3}}\n';
    expect(read("text-events", text, size)).toBe(
      'event: add\ndata: {"event":"add","id":"t","text":"\\n two"}\n\n' +
        'event: finish\ndata: {"event":"finish","text":"","meta":{"usage":{"total_tokens":3}}}\n\n',
    );
  });
});
