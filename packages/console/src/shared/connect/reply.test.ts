import { expect, test } from "vitest";
import { readReply } from "./reply.ts";

const HEADERS = new Headers({ "x-request-id": "r-1" });

test("an answer is read with its text and its request id", () => {
  const body = JSON.stringify({ choices: [{ message: { role: "assistant", content: "Hello there" } }] });
  expect(readReply(200, HEADERS, body, 840)).toEqual({
    isOk: true,
    status: 200,
    text: "Hello there",
    requestId: "r-1",
    elapsedMs: 840,
  });
});

test("a refusal says why, and a page of a proxy says its status", () => {
  const refusal = JSON.stringify({ error: { message: "no channel has this model", code: "model_not_found" } });
  expect(readReply(404, HEADERS, refusal, 3)).toMatchObject({ isOk: false, text: "no channel has this model" });
  expect(readReply(502, new Headers(), "<html>", 3)).toMatchObject({
    isOk: false,
    text: "HTTP 502",
    requestId: undefined,
  });
  expect(readReply(200, HEADERS, "<html>", 3).isOk, "a page is no answer").toBe(false);
});

test("an answer without text is an answer", () => {
  expect(readReply(200, HEADERS, '{"choices":[]}', 3)).toMatchObject({ isOk: true, text: "" });
});
