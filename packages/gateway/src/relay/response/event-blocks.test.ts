import { openaiChat as chat } from "../../dialects/openai-chat/index.ts";
import { parseEvents } from "../../lib/text/sse.ts";
import { describe, expect, it } from "vitest";
import {
  beforeError,
  cutEvents,
  cutUsageEvents,
  hasData,
  isBrokenOff,
  stripComments,
  withoutLast,
  withoutTerminator,
} from "./event-blocks.ts";
import { classifyStreamEvent } from "../conversion/event-kind.ts";

const text = (buffer: Buffer) => buffer.toString();

describe("event blocks", () => {
  it.each([
    ["data: 1\n\nevent: x\ndata: 2\n\n", "data: 1\n\n"],
    ["data: 1\n\n", ""],
    ["", ""],
  ])("%j without its last one is %j", (blocks, rest) => {
    expect(text(withoutLast(Buffer.from(blocks)))).toBe(rest);
  });

  it("returns the same buffer when there is nothing to remove", () => {
    const blocks = Buffer.from('data: {"a":1}\n\ndata: {"b":2}\n\n');
    expect(stripComments(blocks)).toBe(blocks);
    expect(cutEvents(blocks, () => false)).toBe(blocks);
    expect(withoutTerminator(blocks)).toBe(blocks);
  });

  it("removes comments and keeps the events around them", () => {
    expect(text(stripComments(Buffer.from(": ping\n\ndata: 1\n\n: more\ndata: 2\n\n")))).toBe("data: 1\n\ndata: 2\n\n");
    expect(stripComments(Buffer.from(": only\n\n"))).toHaveLength(0);
  });

  it("recognizes events that break off", () => {
    const whole = 'data: {"a":1}\n\ndata: [DONE]\n\n: ping\n\n';
    expect(isBrokenOff(Buffer.from(whole))).toBe(false);
    expect(isBrokenOff(Buffer.from(`${whole}data: {"finish_reason":"stop"\n\n`))).toBe(true);
  });

  it("removes only matching events", () => {
    const blocks = Buffer.from('data: {"n":1}\n\ndata: {"n":2}\n\ndata: {"n":3}\n\n');
    expect(text(cutEvents(blocks, (event) => event["n"] === 2))).toBe('data: {"n":1}\n\ndata: {"n":3}\n\n');
  });

  it("removes matching events at the end without reading earlier ones", () => {
    const blocks = Buffer.from('data: {"n":1}\n\ndata: {"n":2}\n\ndata: {"n":2}\n\ndata: [DONE]\n\n');
    const read: unknown[] = [];
    const cut = cutUsageEvents(blocks, ({ n }) => read.push(n) > 0 && n === 2);
    expect(text(cut)).toBe('data: {"n":1}\n\ndata: [DONE]\n\n');
    const late = Buffer.from('data: {"n":1}\n\ndata: {"n":2}\n\ndata: {"n":3}\n\n');
    expect(text(cutUsageEvents(late, ({ n }) => n === 2))).toBe('data: {"n":1}\n\ndata: {"n":3}\n\n');
    expect(cutUsageEvents(late, () => false)).toBe(late);
    expect(read).toEqual([2, 2, 1]);
  });

  it("removes usage reports between chunks that arrived together", () => {
    const piece = 'data: {"choices":[{}]}\n\n';
    const report = 'data: {"choices":[],"usage":{}}\n\n';
    const blocks = Buffer.from(piece + report + piece + report + report + piece);
    const isReport = ({ usage }: { usage?: unknown }) => usage !== undefined;
    expect(text(cutUsageEvents(blocks, isReport))).toBe(piece + piece + piece);
  });

  it("removes the terminator, not a text that looks like it", () => {
    expect(text(withoutTerminator(Buffer.from("data: 1\n\ndata: [DONE]\n\n")))).toBe("data: 1\n\n");
    expect(text(withoutTerminator(Buffer.from("data:[DONE]\n\n")))).toBe("");
    const spoken = Buffer.from('data: {"content":"say [DONE] now"}\n\n');
    expect(withoutTerminator(spoken)).toBe(spoken);
  });

  it("distinguishes parts of an answer from metadata and from what no client can read", () => {
    const kind = (written: string) => {
      const [event] = parseEvents(Buffer.from(`data: ${written}\n\n`));
      return event && classifyStreamEvent(event, chat.classifyEvent);
    };
    for (const early of ["[DONE]", '{"choices":[]}', "wait", '{"choices":null}', "{}"])
      expect(kind(early), early).toBe("metadata");
    expect(kind('{"choices":[{"delta":{}}]}')).toBe("part");
    for (const broken of ['{"choices":"no"}', '{"choices":[null]}', '{"choices":[{"delta":{"content":5}}]}', '{"choi'])
      expect(kind(broken), broken).toBe("unreadable");
  });

  it("returns what came before an error, and nothing behind it", () => {
    const said = 'data: {"choices":[]}\n\n';
    const blocks = Buffer.from(`${said}data: {"error":{"message":"no"}}\n\n${said}`);
    expect(text(beforeError(blocks, (event) => chat.errorIn(event)))).toBe(said);
    expect(beforeError(Buffer.from(said), (event) => chat.errorIn(event)).toString()).toBe(said);
  });

  it("distinguishes data from comments and bare event lines", () => {
    expect(hasData(Buffer.from(": x\n\n"))).toBe(false);
    expect(hasData(Buffer.from("event: ping\ndata: {}\n\n"))).toBe(true);
  });
});
