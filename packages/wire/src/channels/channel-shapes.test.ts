import { expect, test } from "vitest";
import * as z from "zod/mini";
import { CHANNEL_FIELDS, listChannelFields, type ChannelField } from "./channel-fields.ts";
import { channelDocumentFields } from "./channel-shapes.ts";

const Documented = z.strictObject(channelDocumentFields);
const LIMITED = listChannelFields("document").flatMap((name) => {
  const field: ChannelField = CHANNEL_FIELDS[name];
  return field.kind === "text" || field.kind === "object" ? [{ name, ...field }] : [];
});

/** Returns a value that is stored as a text of this length. */
function createValue(kind: string, length: number): unknown {
  return kind === "text" ? "x".repeat(length) : { a: "x".repeat(length - '{"a":""}'.length) };
}

test.each(LIMITED)("a document takes as much of $name as a call, and no more", ({ kind, most = 0, document }) => {
  const isTaken = (length: number) =>
    Documented.safeParse({ [document?.member ?? ""]: createValue(kind, length) }).success;
  expect([isTaken(most), isTaken(most + 1)]).toEqual([true, false]);
});

test("a document lists as many names as a call takes, none longer than the gateway stores", () => {
  const isTaken = (groups: readonly string[]) => Documented.safeParse({ groups }).success;
  const { most, mostOfItem } = CHANNEL_FIELDS.group.document;
  const shortest = Array.from({ length: most }, () => "a");
  expect(shortest.join(",")).toHaveLength(CHANNEL_FIELDS.group.most);
  expect([isTaken(shortest), isTaken([...shortest, "a"])]).toEqual([true, false]);
  expect([isTaken(["x".repeat(mostOfItem)]), isTaken(["x".repeat(mostOfItem + 1)])]).toEqual([true, false]);
});
