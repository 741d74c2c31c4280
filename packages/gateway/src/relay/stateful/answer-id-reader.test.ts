import { expect, it } from "vitest";
import { geminiGenerate } from "../../dialects/gemini-generate/index.ts";
import type { AnswerIds } from "../../dialects/core/types.ts";
import { AnswerIdReader } from "./answer-id-reader.ts";

const PATH = "files/abc";
const NAMED = { candidates: [{ content: { parts: [{ fileData: { fileUri: PATH } }] } }] };
const EVENT = JSON.stringify(NAMED);

function read(text: string, step = text.length): string[] {
  const ids: string[] = [];
  const reader = new AnswerIdReader(geminiGenerate.answerIds as AnswerIds, (id) => ids.push(id));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += step) reader.feed(bytes.subarray(at, at + step));
  reader.end();
  return ids;
}

it.each([
  ["line feeds", `data: ${EVENT}\n\n`],
  ["both line ends", `data: ${EVENT}\r\n\r\n`],
  ["carriage returns", `data: ${EVENT}\r\r`],
  ["no blank after the colon", `data:${EVENT}\n\n`],
  ["a name before the data", `event: chunk\ndata: ${EVENT}\n\n`],
  ["data over several lines", `data: ${JSON.stringify(NAMED, null, 1).replaceAll("\n", "\ndata: ")}\n\n`],
  ["a byte order mark", `\u{feff}data: ${EVENT}\n\n`],
  ["no blank line at the end", `data: {"candidates":[]}\n\ndata: ${EVENT}`],
])("ids are read from events with %s, however they are cut", (_form, text) => {
  for (const step of [text.length, 1, 2, 7]) expect(read(text, step)).toEqual([PATH]);
});

it("an event that is too large ends the reading, like the answer of its client", () => {
  const large = `data: {"text":"${"x".repeat(17 * 1024 * 1024)}"}\n\n`;
  expect(read(`${large}data: ${EVENT}\n\n`, 1024 * 1024)).toEqual([]);
});
